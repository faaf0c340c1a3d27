/** A run of an invented search for hyperparameters. The same index makes the same run. */
export interface InventedRun {
  name: string;
  note: string | null;
  params: Record<string, string | number | boolean>;
  tags: Record<string, string>;
  points: { name: string; value: number; step: number; time: string }[];
  status: 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
}

/** Mulberry32: small and even, for figures that mean nothing. */
function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const models = ['resnet18', 'resnet50', 'mobilenet_v2', 'vit_tiny', 'convnext_s'] as const;
const optimizers = ['adam', 'adamw', 'sgd'] as const;
const batches = [32, 64, 128, 256] as const;
const steps = 40;
/** Of every thousand runs as many are still going, have failed, or were cancelled. */
const running = 3;
const failed = 45;
const cancelled = 20;

const pick = <T>(from: readonly T[], random: number): T => {
  const found = from[Math.floor(random * from.length)];
  if (found === undefined) throw new RangeError('random must be below 1');
  return found;
};

export function inventedRun(index: number): InventedRun {
  const random = randomOf(index);
  const model = pick(models, random());
  const optimizer = pick(optimizers, random());
  const lr = Number((10 ** (-4 + 3 * random())).toPrecision(3));
  const batch_size = pick(batches, random());
  const dropout = Number((random() * 0.5).toFixed(2));
  const seed = index % 10;
  // The best learning rate is near 0.003; further away the runs learn less.
  const miss = Math.abs(Math.log10(lr / 0.003));
  const ceiling = 0.97 - 0.09 * miss ** 2 - 0.04 * Math.abs(dropout - 0.2) + 0.008 * models.indexOf(model);
  const speed = 4 + 8 * random();
  const begun = Date.parse('2026-01-05T08:00:00Z') + index * 97_000;
  const chance = random() * 1000;
  const status =
    chance < running
      ? 'RUNNING'
      : chance < running + failed
        ? 'FAILED'
        : chance < running + failed + cancelled
          ? 'CANCELLED'
          : 'SUCCEEDED';
  const last = status === 'SUCCEEDED' ? steps : 5 + Math.floor(random() * (steps - 5));
  const points: InventedRun['points'] = [];
  for (let step = 1; step <= last; step += 1) {
    const rise = 1 - Math.exp(-step / speed);
    const accuracy = Math.max(0.1, ceiling * rise + (random() - 0.5) * 0.03);
    const loss = 2.3 * Math.exp(-step / speed) + 0.15 + 0.2 * miss + (random() - 0.5) * 0.08;
    const time = new Date(begun + step * 11_000).toISOString();
    points.push({ name: 'accuracy', value: accuracy, step, time }, { name: 'loss', value: loss, step, time });
    if (step % 4 === 0)
      points.push({ name: 'val_accuracy', value: accuracy - 0.02 - 0.03 * random(), step, time });
  }
  return {
    name: `${model}-${optimizer}-${index}`,
    note: index % 400 === 0 ? '## Baseline\n\nThe *reference* of this block of the search.' : null,
    params: { model, optimizer, lr, batch_size, dropout, seed },
    tags: { block: String(Math.floor(index / 400)), ...(index % 400 === 0 && { stage: 'baseline' }) },
    points,
    status,
  };
}
