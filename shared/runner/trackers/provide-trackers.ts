import { access, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { readAtMost } from '../host/read-at-most.ts';
import type { TrainingRun } from '../job/training-job.ts';
import { findFiles } from '../outputs/find-files.ts';
import { passesOver } from '../outputs/passed-over.ts';
import { trackerSources } from './tracker-sources.ts';

/**
 * Provide modules in the place of the trackers that a program names: what it logs is then this experiment's. Return
 * the folder of the modules; undefined if it names none, or the project has a key for it.
 */
export async function provideTrackers(run: TrainingRun): Promise<string | undefined> {
  const { job, workspace, variables, user } = run;
  const wanted = trackers.filter(({ hasKey }) => !hasKey(variables.values));
  const command = job.record.environment.entry_point_command;
  const provided = await namedTrackers(wanted, command, workspace.source, user);
  if (provided.length === 0) return undefined;
  const folder = join(workspace.root, 'modules');
  await mkdir(folder, { mode: 0o755 });
  const write = async (path: string, text: string) => {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    await writeFile(file, text, { mode: 0o444 });
  };
  const modules = ['mps_recorder', ...provided.map(({ module }) => module)];
  const sources = await trackerSources();
  for (const [path, text] of Object.entries(sources))
    if (modules.includes(path.split('/')[0] ?? '')) await write(path, text);
  // Lightning, Transformers and others ask the metadata for the version.
  for (const { module } of provided) {
    const [, version] = ofVersion.exec(sources[`${module}/__init__.py`] ?? '') ?? [];
    if (version !== undefined)
      await write(
        `${module}-${version}.dist-info/METADATA`,
        `Metadata-Version: 2.1\nName: ${module.replace('_', '-')}\nVersion: ${version}\n`,
      );
  }
  return folder;
}

/** The version whose calls a module knows. A module that stands in for no package has none. */
const ofVersion = /^__version__ = "(.+)"$/m;

type Variables = Readonly<Record<string, string>>;

interface Tracker {
  module: string;
  /** What programs that use it contain. */
  named: RegExp;
  /** Whether a project records at the tracker's own server. */
  hasKey: (values: Variables) => boolean;
}

const anyOf =
  (...names: string[]) =>
  (values: Variables) =>
    names.some((name) => values[name] !== undefined);

/** An import, also in a cell of a notebook: the name alone is a word of other programs. */
const imported = (module: string): RegExp =>
  new RegExp(
    String.raw`(?:^|["';])[ \t]*(?:import|from)[ \t]+(?:[\w.]+[ \t]*,[ \t]*)*${module}(?![\w-])`,
    'm',
  );

const hasNeptune = anyOf('NEPTUNE_API_TOKEN');

const figures = 'mps_figures';
const backend = 'MPLBACKEND';

const trackers: readonly Tracker[] = [
  {
    module: 'wandb',
    named: /wandb/i,
    hasKey: (values) =>
      anyOf('WANDB_API_KEY', 'WANDB_BASE_URL')(values) || /wandb/.test(values['NETRC'] ?? ''),
  },
  {
    module: 'clearml',
    named: /\bclearml\b/,
    hasKey: anyOf('CLEARML_API_ACCESS_KEY', 'CLEARML_API_HOST', 'CLEARML_CONFIG_FILE'),
  },
  { module: 'comet_ml', named: /\bcomet_ml\b/, hasKey: anyOf('COMET_API_KEY') },
  {
    module: 'neptune',
    named: new RegExp(String.raw`${imported('neptune').source}|report_to\W+neptune\b|\bNeptuneLogger\b`, 'm'),
    hasKey: hasNeptune,
  },
  { module: 'neptune_scale', named: /\bneptune_scale\b/, hasKey: hasNeptune },
  { module: 'aim', named: imported('aim'), hasKey: anyOf('AIM_REPO') },
  { module: 'trackio', named: /\btrackio\b/, hasKey: anyOf('TRACKIO_SPACE_ID') },
  {
    module: 'swanlab',
    named: /\bswanlab\b/,
    hasKey: anyOf('SWANLAB_API_KEY', 'SWANLAB_API_HOST'),
  },
  // The package of this service, in its version.
  { module: 'mps', named: imported('mps'), hasKey: () => false },
  // Keeps what `plt.show()` shows.
  {
    module: figures,
    named: /\bmatplotlib\b|\bpylab\b|\bplt\.show\b/,
    hasKey: anyOf(backend),
  },
];

/**
 * Return the variable by which Matplotlib keeps what a program shows, if its module is provided. The kernel of a notebook
 * keeps figures in the notebook.
 */
export async function figureVariables(
  modules: string | undefined,
  command: string,
): Promise<Record<string, string>> {
  const isNotebook = /papermill|jupyter|ipython|\.ipynb/.test(command);
  if (modules === undefined || isNotebook) return {};
  const isThere = await access(join(modules, figures)).then(
    () => true,
    () => false,
  );
  return isThere ? { [backend]: `module://${figures}` } : {};
}

/** Files that name libraries of a program. */
const source = /\.(?:py|ipynb|ya?ml|toml|cfg|json|sh)$/;

const maxFiles = 5_000;
const maxFileBytes = 1_000_000;
const maxBytes = 50_000_000;

/** Return the trackers that the command or a file of the source names, unless the source has a module of that name. */
async function namedTrackers(
  wanted: readonly Tracker[],
  command: string,
  folder: string,
  user: TrainingRun['user'],
): Promise<readonly Tracker[]> {
  const found = new Set(wanted.filter(({ named }) => named.test(command)));
  const modules: { module: string; place: string }[] = [];
  const packages = new Set<string>();
  const bounds = { maxFiles, maxDepth: 16, maxPathBytes: 1_000 };
  const options = { ...bounds, refused: () => undefined, passesOver, ...(user !== undefined && { user }) };
  let bytes = 0;
  for await (const file of findFiles(folder, options)) {
    const { dir, base } = posix.parse(file.path);
    const isPackage = base === '__init__.py';
    if (isPackage) packages.add(dir);
    if (base.endsWith('.py')) {
      const path = isPackage ? dir : file.path;
      modules.push({ module: posix.basename(path, '.py'), place: posix.dirname(path) });
    }
    if (!source.test(file.path) || file.size > maxFileBytes) continue;
    bytes += file.size;
    if (bytes > maxBytes) break;
    const handle = await file.open().catch(() => undefined);
    if (handle === undefined) continue;
    try {
      const text = (await readAtMost(handle, maxFileBytes))?.toString('latin1');
      for (const one of wanted) if (text !== undefined && one.named.test(text)) found.add(one);
    } finally {
      await handle.close();
    }
  }
  // Python imports a module of a package by the package's name, unless the program is in the same folder.
  const isTop = (place: string) => place === '.' || !packages.has(place) || command.includes(`${place}/`);
  const own = new Set(modules.filter(({ place }) => isTop(place)).map(({ module }) => module));
  return [...found].filter(({ module }) => !own.has(module));
}
