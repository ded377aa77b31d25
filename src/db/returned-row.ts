/** The row of a statement that always returns one. */
export function returnedRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("The database returned no row.");
  return row;
}
