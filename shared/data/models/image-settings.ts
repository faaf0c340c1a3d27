import * as z from 'zod';

const whole = z.number().int();
const Sides = z.object({ height: whole, width: whole });
const ThreeNumbers = z.tuple([z.number(), z.number(), z.number()]);

/** Filters of a resize, by the names that Pillow has for them. */
export const imageFilters = ['nearest', 'lanczos', 'bilinear', 'bicubic', 'box', 'hamming'] as const;

/** How a model answers pictures. Its labels stay in `config.json`: there may be many. */
export const ImageSettings = z.object({
  task: z.enum(['classification', 'embedding']),
  /** Input of the model that takes the picture, and output that has the answer. */
  input: z.string(),
  output: z.string(),
  /** Size of a picture after the first step; `shortest` keeps its proportions. Null leaves it as it is. */
  resize: z.union([Sides, z.object({ shortest: whole })]).nullable(),
  filter: z.enum(imageFilters),
  /** Size of the middle that the model sees. Black is added around a picture that is smaller. */
  crop: Sides.nullable(),
  /** A value of the input is a value of the picture, from 0 to 255, times `scale` plus `offset`: red, green, blue. */
  scale: ThreeNumbers,
  offset: ThreeNumbers,
  /** Whether blue comes first. */
  is_bgr: z.boolean(),
  activation: z.enum(['softmax', 'sigmoid', 'none']),
  /** Classes of an answer, or numbers of a vector. Null if the model does not state it. */
  width: whole.nullable(),
});
export type ImageSettings = z.infer<typeof ImageSettings>;
