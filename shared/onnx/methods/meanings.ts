/** What the parameters of methods mean, in a sentence: of the published methods and of the requests for them. */
export const meanings = {
  compression: '1/compression of the prunable weights is kept.',
  exclude: 'Names of nodes, or types of operators, that stay as they are. A name of neither fails the job.',
  seed: 'Seed of everything that is drawn by chance.',
  maxErrorOfPruning: 'The relative L2 error of an output above which the request fails.',
  maxErrorOfQuantization:
    'The relative L2 error of an output; layers are excluded by measured sensitivity until it holds.',
  quantType: 'Type of the weights; with a static strategy that of the activations.',
  leafNode: 'Only operators that hold their own constant weight.',
  include: 'Types of operators that are quantized only when asked for: Conv with dynamic.',
  perChannel: 'A scale for each output channel of a weight.',
  reduceRange: 'Weights of 7 bits, for processors whose 8-bit products saturate.',
} as const;
