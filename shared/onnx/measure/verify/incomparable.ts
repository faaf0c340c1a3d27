/** Reasons in a receipt why an output has no error. All transformations use them. */
export const incomparable = {
  noTensor: 'is not a numeric tensor',
  noValues: 'has no values to compare',
  noNumbers: 'has only NaN or infinite values in the model itself, so nothing could be compared',
  spoilt: 'of its finite values became NaN or infinite',
} as const;
