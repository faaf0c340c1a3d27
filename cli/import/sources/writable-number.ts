/** Return a number as MLflow writes it: one that JSON lacks is a text. */
export const writableNumber = (value: number): number | string =>
  Number.isFinite(value) ? value : String(value);
