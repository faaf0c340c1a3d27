/**
 * Source of an expression for a finite decimal number as JSON or Python write it (`1e-06`, `.5`, `5.`), with an optional
 * sign. Each text has one way to match, so a long one is refused in linear time.
 */
export const decimalSource = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?`;

/** A whole text that is a decimal number. */
export const decimalPattern = new RegExp(`^${decimalSource}$`);
