/** Why an output has no error, whatever was done to the model: reasons as they stand in a receipt. */
export const incomparable = {
  noTensor: 'is no tensor of numbers',
  noValues: 'has no values that could be compared',
  noNumbers: 'holds only NaN or infinite values in the model itself, so nothing could be compared',
} as const;
