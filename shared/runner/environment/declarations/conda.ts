import { parse } from 'yaml';
import * as z from 'zod/mini';
import { errorText } from '../../../core/error-text.ts';
import { EnvironmentError } from '../environment-error.ts';

/** What an environment file of conda or MLflow declares. */
export interface CondaEnvironment {
  /** Requirement lines: those under `pip:`, and conda's packages that pip has too. */
  requirements: string[];
  /** Packages that are conda's alone, as they are written. They are not installed. */
  condaOnly: string[];
  /** The version of Python that it names, such as `3.10`; undefined if it names none. */
  python: string | undefined;
}

/**
 * Read an `environment.yml`, `conda.yaml`, or MLflow's `python_env.yaml`. A package of conda becomes a requirement
 * where pip has one of the same content; `pytorch` is `torch` there.
 *
 * @throws EnvironmentError `bad-dependencies` if it cannot be read
 * @example readConda('environment.yml', 'dependencies: [python=3.10, numpy=1.26, cudatoolkit, {pip: [six]}]')
 * // { requirements: ['numpy==1.26.*', 'six'], condaOnly: ['cudatoolkit'], python: '3.10' }
 */
export function readConda(file: string, content: string): CondaEnvironment {
  const { dependencies = [], python: version } = parsed(file, content);
  const requirements: string[] = [];
  const condaOnly: string[] = [];
  let python = version === undefined ? undefined : String(version);
  for (const one of dependencies ?? []) {
    if (typeof one !== 'string') {
      requirements.push(...(one.pip ?? []));
      continue;
    }
    const { name, wanted } = matchSpec(one);
    const inPip = namesInPip.get(name);
    if (name === 'python') python = wanted.replace(/^==?/, '').replace(/\.\*$/, '') || undefined;
    else if (inPip !== undefined) requirements.push(`${inPip}${pipVersion(wanted)}`);
    // MLflow lists pip's own packages as plain lines in python_env.yaml.
    else if (version !== undefined || one.startsWith('-r')) requirements.push(one);
    else if (name !== 'pip') condaOnly.push(one);
  }
  return { requirements, condaOnly, python };
}

const File = z.object({
  dependencies: z.optional(
    z.nullable(
      z.array(z.union([z.string(), z.object({ pip: z.optional(z.nullable(z.array(z.string()))) })])),
    ),
  ),
  /** In MLflow's `python_env.yaml`. */
  python: z.optional(z.union([z.string(), z.number()])),
});

function parsed(file: string, content: string): z.infer<typeof File> {
  try {
    return File.parse(parse(content) ?? {});
  } catch (error) {
    throw new EnvironmentError('bad-dependencies', `${file} cannot be read: ${errorText(error).trim()}`);
  }
}

/** Split `conda-forge::numpy=1.26=py310_0` into its name and version; channel and build are conda's alone. */
function matchSpec(spec: string): { name: string; wanted: string } {
  const [, name = '', rest = ''] = /^(?:[^:\s]+::)?([A-Za-z0-9._-]+)\s*(.*)$/.exec(spec.trim()) ?? [];
  const [, wanted = rest] = /^(=?=?[^=\s<>!~][^=\s]*)=[^=\s]+$/.exec(rest) ?? [];
  return { name: name.toLowerCase(), wanted: wanted.trim() };
}

/** Convert conda's version: `=1.2` means `1.2` and all below it, `==1.2` that alone. */
function pipVersion(wanted: string): string {
  if (wanted === '' || wanted === '*') return '';
  if (/^=?\d/.test(wanted)) return `==${wanted.replace(/^=/, '').replace(/\.?\*$/, '')}.*`;
  return wanted.replaceAll(/\s+/g, '');
}

const sameNames = [
  ...[
    'numpy',
    'scipy',
    'pandas',
    'polars',
    'pyarrow',
    'scikit-learn',
    'scikit-image',
    'matplotlib',
    'seaborn',
  ],
  ...[
    'plotly',
    'bokeh',
    'networkx',
    'sympy',
    'statsmodels',
    'numba',
    'cython',
    'joblib',
    'tqdm',
    'h5py',
    'pillow',
  ],
  ...['requests', 'click', 'pyyaml', 'rich', 'jinja2', 'psutil', 'cloudpickle', 'dill', 'toolz', 'dask'],
  ...[
    'lightgbm',
    'xgboost',
    'catboost',
    'mlflow',
    'tensorboard',
    'tensorflow',
    'keras',
    'torchvision',
    'torchaudio',
  ],
  ...[
    'torchmetrics',
    'pytorch-lightning',
    'lightning',
    'transformers',
    'datasets',
    'tokenizers',
    'accelerate',
  ],
  ...[
    'huggingface_hub',
    'sentencepiece',
    'spacy',
    'nltk',
    'gensim',
    'optuna',
    'hydra-core',
    'omegaconf',
    'wandb',
  ],
  ...[
    'onnx',
    'onnxruntime',
    'shap',
    'imbalanced-learn',
    'pytest',
    'ipython',
    'jupyter',
    'notebook',
    'ipykernel',
  ],
  ...[
    'jupyterlab',
    'einops',
    'timm',
    'albumentations',
    'librosa',
    'gymnasium',
    'jax',
    'flax',
    'optax',
    'fsspec',
  ],
  ...[
    's3fs',
    'boto3',
    'sqlalchemy',
    'pydantic',
    'fastapi',
    'black',
    'flake8',
    'mypy',
    'pre-commit',
    'setuptools',
  ],
  ...['wheel', 'six', 'tabulate', 'termcolor', 'loguru', 'fire', 'typer', 'regex', 'ftfy', 'gdown'],
];

/** Names of conda's packages that pip has with the same content, and their names there. */
const namesInPip: ReadonlyMap<string, string> = new Map([
  ...sameNames.map((name) => [name, name] as const),
  ['pytorch', 'torch'],
  ['tensorflow-gpu', 'tensorflow'],
  ['opencv', 'opencv-python-headless'],
  ['py-opencv', 'opencv-python-headless'],
  ['py-xgboost', 'xgboost'],
  ['matplotlib-base', 'matplotlib'],
  ['python-graphviz', 'graphviz'],
  ['faiss-cpu', 'faiss-cpu'],
]);
