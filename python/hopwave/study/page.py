"""How tables look in pages of HTML."""

STYLE = """<style>
table { border-collapse: collapse; font: 13px sans-serif }
th, td { padding: 3px 8px; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th { position: sticky; top: 0; background: #f4f4f4 }
</style>
"""
