import { parseRequest } from '../../methods/apply/parse-request.ts';
import type { AutoContext, CandidateTrials } from './candidate-trials.ts';

/** Compressions that are tried, which need not be whole numbers here. */
const compressions = [1.1, 1.25, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/** The first one to be tried: the next depends on whether it holds the target. */
const first = 3;

const structured = (strategy: string, allocation?: string) => ({
  name: [strategy, ...(allocation === undefined ? [] : [allocation])].join(', '),
  values: { strategy, ...(allocation !== undefined && { allocation }) },
});

/**
 * Tries the structured strategies, each at the largest compression that holds the target, and where speed is the goal the
 * fused graph, too.
 */
export async function searchPrunings(trials: CandidateTrials, { optimization }: AutoContext): Promise<void> {
  const { request, calibration } = optimization;
  const hasCalibration = calibration !== undefined;
  if (!hasCalibration)
    trials.notes.push('auto loses less with a calibration set: structured_reconstruct needs one.');
  const stepOf = (values: Readonly<Record<string, unknown>>) =>
    parseRequest({ operation: 'prune', seed: request.seed, ...values });
  if (request.goal === 'latency')
    await trials.try({ name: 'optimize', steps: [stepOf({ strategy: 'optimize' })] });
  const methods = [
    ...(hasCalibration
      ? [structured('structured_reconstruct', 'sensitivity'), structured('structured_reconstruct', 'uniform')]
      : []),
    structured('structured_l2'),
  ];
  for (const { name, values } of methods) {
    const holds = async (at: number): Promise<boolean> => {
      const compression = compressions[at] ?? 1;
      const candidate = { name: `${name}, compression ${compression}`, steps: [stepOf(values)], compression };
      const measured = await trials.try(candidate);
      return measured !== undefined && measured.loss <= trials.maxLoss;
    };
    let at = first;
    if (await holds(at))
      do at += 1;
      while (at < compressions.length && (await holds(at)));
    else
      do at -= 1;
      while (at >= 0 && !(await holds(at)));
  }
}
