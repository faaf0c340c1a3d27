/** Reasons in a receipt why an output has no error. All transformations use them. */
export const incomparable = {
  noTensor: 'is no tensor of numbers',
  noValues: 'has no values that could be compared',
  noNumbers: 'holds only NaN or infinite values in the model itself, so nothing could be compared',
  spoilt: 'of its values are infinite or not numbers any more',
} as const;
