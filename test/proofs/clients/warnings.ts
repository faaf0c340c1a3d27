/**
 * What openapi-generator 7.25 says of every document of OpenAPI 3.1, however small, and of parameters that are named like a
 * type of TypeScript, for which it makes no model in the end.
 */
const always = [
  /OpenAPI 3\.1 support is still in beta/,
  /Failed to get the schema name: null/,
  /\b(File|Exclude) \(model name matches existing language type\) cannot be used as a model name/,
];

/** The lines of a generator's output that are warnings or errors about the document. */
export const warningsIn = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => /\b(warn(ing)?|error|exception|skipp|unsupported)/i.test(line) && !/ INFO /.test(line))
    .filter((line) => !always.some((one) => one.test(line)));
