/** The row that a statement gave back which always gives one. */
export function returnedRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error("The database gave no row back.");
  return row;
}
