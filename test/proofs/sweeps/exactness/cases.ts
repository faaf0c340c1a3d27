/** Sweeps of the proof by name: one of each method, with early stops and with repeats. */
export const cases: Readonly<Record<string, object>> = {
  grid: { method: 'grid', parameters: { lr: { min: 0.001, max: 0.2, step: 0.001 } } },
  random: { method: 'random', parameters: rates() },
  sobol: { method: 'sobol', parameters: rates() },
  tpe: { method: 'tpe', parameters: rates() },
  asha: { method: 'random', parameters: rates(), stop: { rule: 'asha', step_min: 1, reduction: 3 } },
  median: { method: 'tpe', parameters: rates(), stop: { rule: 'median', step_min: 2 } },
  repeats: { method: 'tpe', parameters: rates(), repeats: 2 },
};

function rates() {
  return { lr: { min: 0.001, max: 1, scale: 'log' }, momentum: { min: 0, max: 0.99 } };
}

/** Configuration of the trainings: the seconds after each of four steps are long enough for an early stop if there may be one. */
export const configOf = (spec: object): string =>
  `lr: 1\nmomentum: 0\nseconds: ${'stop' in spec ? 0.5 : 0.05}\n`;

const steps = 4;

/** A training that reports a loss at each step, by the values of its configuration and the seed of its repeat. */
export const command = `python3 -c '${[
  'import json, math, os, time',
  'config = dict(line.strip().split(": ") for line in open(os.environ["CONFIG_PATH"]) if ": " in line)',
  'lr, momentum, seed = float(config["lr"]), float(config["momentum"]), int(os.environ.get("SEED", 0))',
  'best = abs(math.log10(lr / 0.03)) + abs(momentum - 0.9) + seed / 100',
  'report = lambda step: print(json.dumps({"loss": best + 1 / step, "step": step}), file=open(os.environ["METRICS_FILE"], "a"))',
  `[(report(step), time.sleep(float(config["seconds"]))) for step in range(1, ${steps + 1})]`,
].join('; ')}'`;
