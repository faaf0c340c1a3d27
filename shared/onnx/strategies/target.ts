/** Kinds of processors that a result can be made for, by their 8-bit products; `any` is none in particular. */
export const targets = ['any', 'x86-64-v2', 'avx2', 'avx512-vnni', 'arm64-dotprod'] as const;
export type Target = (typeof targets)[number];

interface TargetFacts {
  /** Type of the activations of a static quantization that its kernels are fastest with. */
  activations: 'int8' | 'uint8';
  /** Whether sums of full 8-bit products saturate, so that weights have 7 bits. */
  saturates: boolean;
}

/**
 * What each target wants. ONNX Runtime multiplies uint8 by int8 with VPMADDUBSW where there is no VNNI, whose 16-bit sums
 * saturate; on Arm its products of int8 by int8 are the fastest.
 */
const facts: Readonly<Record<Exclude<Target, 'any'>, TargetFacts>> = {
  'x86-64-v2': { activations: 'uint8', saturates: true },
  avx2: { activations: 'uint8', saturates: true },
  'avx512-vnni': { activations: 'uint8', saturates: false },
  'arm64-dotprod': { activations: 'int8', saturates: false },
};

/** The facts of a target; undefined for none in particular, or for what is none. */
export const targetFacts = (target: unknown): TargetFacts | undefined => {
  const known = targets.find((one) => one === target);
  return known === undefined || known === 'any' ? undefined : facts[known];
};

/** The target that a processor is, by its instruction sets; undefined for others. */
export function targetOf({
  architecture,
  flags,
}: {
  architecture: string;
  flags: readonly string[];
}): Target | undefined {
  if (architecture === 'arm64') return flags.includes('asimddp') ? 'arm64-dotprod' : undefined;
  if (architecture !== 'x64') return undefined;
  if (flags.includes('avx512_vnni')) return 'avx512-vnni';
  return flags.includes('avx2') ? 'avx2' : 'x86-64-v2';
}
