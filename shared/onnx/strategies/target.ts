/** Target processors, by their 8-bit products. `any` is no particular processor. */
export const targets = ['any', 'x86-64-v2', 'avx2', 'avx512-vnni', 'arm64-dotprod'] as const;
export type Target = (typeof targets)[number];

/**
 * Machines that people know, by the target of their processors. Lambda's x86 hosts have AVX2; AWS does not say which of them
 * have VNNI.
 */
const machines: Readonly<Partial<Record<Target, readonly string[]>>> = {
  avx2: ['lambda'],
  'avx512-vnni': ['m6i', 'c6i', 'm7i', 'c7i', 'm7a', 'c7a'],
  'arm64-dotprod': [
    ...['lambda-arm', 'm6g', 'c6g', 'm7g', 'c7g', 'm8g', 'c8g'],
    ...['raspberrypi5', 'apple-m1', 'apple-m2', 'apple-m3', 'apple-m4'],
  ],
};

/** What the parameter `for` accepts: a target, or a machine. */
export const targetNames: readonly string[] = [...targets, ...Object.values(machines).flat()];

/** Return the target of a machine. Return any other value as it is. */
export const namedTarget = (name: unknown): unknown =>
  targets.find((target) => machines[target]?.some((machine) => machine === name)) ?? name;

interface TargetFacts {
  /** Activation type of a static quantization with which the target's kernels are fastest. */
  activations: 'int8' | 'uint8';
  /** Whether sums of full 8-bit products saturate. Weights then need 7 bits. */
  saturates: boolean;
}

/**
 * Facts of each target. Without VNNI, ONNX Runtime multiplies uint8 by int8 with VPMADDUBSW, whose 16-bit sums
 * saturate. On Arm, its int8 by int8 products are the fastest.
 */
const facts: Readonly<Record<Exclude<Target, 'any'>, TargetFacts>> = {
  'x86-64-v2': { activations: 'uint8', saturates: true },
  avx2: { activations: 'uint8', saturates: true },
  'avx512-vnni': { activations: 'uint8', saturates: false },
  'arm64-dotprod': { activations: 'int8', saturates: false },
};

/** Return the facts of a target. Undefined for `any` and for unknown targets. */
export const targetFacts = (target: unknown): TargetFacts | undefined => {
  const known = targets.find((one) => one === target);
  return known === undefined || known === 'any' ? undefined : facts[known];
};

/** Return the target that matches a processor's instruction sets. Undefined for other processors. */
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
