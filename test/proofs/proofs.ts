/** A long proof or a benchmark: `npm run proof -- <name>` runs it. */
export interface Proof {
  name: string;
  /** What it shows, and how long it takes if that is more than a few minutes. */
  about: string;
  /** The program, from the root of the project: a TypeScript file, or a shell script. */
  program: string;
}

export const proofs: readonly Proof[] = [
  {
    name: 'abandoned',
    about: 'how long others wait while charts of a long run are asked for and left',
    program: 'test/proofs/load/abandoned.ts',
  },
  {
    name: 'arm64',
    about: 'the first five minutes and a quantization on Linux for Arm, emulated (twenty minutes; root)',
    program: 'test/proofs/arm64.sh',
  },
  {
    name: 'bench',
    about: 'the figures of test/README.md (ten minutes)',
    program: 'test/proofs/bench/main.ts',
  },
  { name: 'browser', about: 'the console in Chromium, as a person uses it', program: 'test/browser/run.ts' },
  {
    name: 'budgets',
    about: 'what 1,000 simulated jobs with budgets and lost hosts overspend (eight minutes; --jobs <number>)',
    program: 'test/proofs/sweeps/budgets/run.ts',
  },
  {
    name: 'bundle',
    about: 'how long bundles take to import',
    program: 'test/proofs/bench/bundle-imports.ts',
  },
  {
    name: 'cold-start',
    about: 'what a request waits for in a new instance of the function that serves models',
    program: 'test/proofs/serving/cold-start.ts',
  },
  { name: 'console', about: 'the console with 10,000 experiments', program: 'test/browser/bench.ts' },
  { name: 'container', about: 'what only containers can prove', program: 'test/proofs/container/run.ts' },
  {
    name: 'data-limit',
    about:
      'the size of the data folder over 50 projects that train, again and beside each other (five minutes)',
    program: 'test/proofs/programs/data-limit.ts',
  },
  {
    name: 'engine',
    about: "how fast and small the ONNX engine's results are",
    program: 'test/proofs/optimize/bench.ts',
  },
  {
    name: 'exports',
    about: 'models of 33 architectures behind a Hub of this machine become ONNX files (fifteen minutes)',
    program: 'test/proofs/exports/run.ts',
  },
  {
    name: 'faults',
    about: 'kill -9, outages, a full or bad disk (hours; --only <name>)',
    program: 'test/proofs/faults/run.ts',
  },
  {
    name: 'follow',
    about:
      'how often followers of a run ask, how soon a metric arrives, and that kills lose nothing (two minutes)',
    program: 'test/proofs/load/follow.ts',
  },
  { name: 'fuzz', about: 'every drawn test from a new seed', program: 'test/integration/fuzz/run.ts' },
  {
    name: 'gateway',
    about: "the work of every operation's largest requests on the gateway's thread (half an hour; Linux)",
    program: 'test/proofs/gateway/run.ts',
  },
  {
    name: 'house',
    about: 'files, folders and the files of three ways',
    program: 'test/proofs/house/main.ts',
  },
  {
    name: 'imports',
    about:
      'the processor time and the memory of mps import, for a small run and for a point (a minute; Linux)',
    program: 'test/proofs/imports/run.ts',
  },
  {
    name: 'gates',
    about: 'false alarms of the gate on time on identical files (--repeats 200: six minutes)',
    program: 'test/proofs/optimize/gate-alarms.ts',
  },
  { name: 'load', about: 'the service under load', program: 'test/proofs/load/run.ts' },
  {
    name: 'mlflow',
    about: "MLflow's own clients of two versions (nine minutes)",
    program: 'test/proofs/mlflow/run.ts',
  },
  {
    name: 'models',
    about: 'every method on the models of every exporter (an hour)',
    program: 'test/proofs/optimize/every-method/run.sh',
  },
  {
    name: 'notices',
    about: 'how soon hooks are told, and that kills lose nothing (a few minutes; --kills <number>)',
    program: 'test/proofs/notices/run.ts',
  },
  {
    name: 'portable',
    about: 'the service without what only Linux has, as root, without /proc and as an ordinary user',
    program: 'test/proofs/portable.sh',
  },
  {
    name: 'programs',
    about: 'public projects, from their folder to a compared experiment (an hour; --projects <folder>)',
    program: 'test/proofs/programs/main.ts',
  },
  {
    name: 'pypi',
    about:
      "models of PyPI's packages by each method, beside ONNX Runtime, neural-compressor and MLServer (hours)",
    program: 'test/proofs/optimize/pypi/run.sh',
  },
  {
    name: 'simulate',
    about: 'which limit of AWS a growing deployment meets first, and what Spot costs (--spot)',
    program: 'test/proofs/simulate/main.ts',
  },
  { name: 'soak', about: 'the service for half an hour', program: 'test/proofs/load/soak.ts' },
  {
    name: 'serving-memory',
    about: 'ten models share memory for three, their processes are killed, and one of 1 GB answers',
    program: 'test/proofs/serving/memory.ts',
  },
  {
    name: 'serving',
    about: "Triton's client asks served models of PyPI's packages; figures beside MLServer",
    program: 'test/proofs/serving/run.ts',
  },
  {
    name: 'sweep-latency',
    about: 'what a sweep of 1,000 trials costs the requests of others (seven minutes; --trials <number>)',
    program: 'test/proofs/sweeps/latency/run.ts',
  },
  {
    name: 'sweep-optuna',
    about: 'Optuna chooses the trials of a sweep (a minute; --python <program>)',
    program: 'test/proofs/sweeps/optuna/run.ts',
  },
  {
    name: 'sweep-quality',
    about: 'the samplers of sweeps beside Optuna (ten minutes; --python <program>)',
    program: 'test/proofs/sweeps/quality/run.ts',
  },
  {
    name: 'sweeps',
    about: 'sweeps of each method while the service is killed (ten minutes a method; --only <method>)',
    program: 'test/proofs/sweeps/exactness/run.ts',
  },
  {
    name: 'truths',
    about: "each row of the README's table, against the running service (three minutes)",
    program: 'test/proofs/truths/main.ts',
  },
];

/** The program to start, and its first arguments. */
export function commandName(program: string): [string, string[]] {
  return program.endsWith('.sh') ? ['bash', [program]] : [process.execPath, [program]];
}
