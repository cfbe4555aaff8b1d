# lib/layout
