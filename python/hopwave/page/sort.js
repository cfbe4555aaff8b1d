// Makes the table of results sortable, by DataTables; without it the table stays as it is.
const bundle = document.getElementById("datatables").textContent.trim();
const { default: DataTable } = await import(`data:text/javascript;base64,${bundle}`);
const table = document.getElementById("results");
const many = table.tBodies[0].rows.length > Number(table.dataset.paged);
new DataTable(table, {
    order: [],
    autoWidth: false,
    paging: many,
    pageLength: 50,
    info: many,
    language: { search: "Show rows with" },
    layout: { topStart: "search", topEnd: null, bottomStart: many ? "info" : null, bottomEnd: many ? "paging" : null },
});
document.body.dataset.sortable = "yes";
