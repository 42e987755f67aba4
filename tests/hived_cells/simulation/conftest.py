"""Being here puts this folder's builders on the import path of the tests below it."""
