import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { wandbNames } from './wandb-names.ts';

const room = join(import.meta.dirname, '../../../../shared/runner/trackers');

/** Says of each public name whether it does what wandb's reference says, is only named in the log, or is an error. */
const probe = `
import importlib, json, sys
import wandb
from mps_recorder import Unknown
from wandb._errors import Error

run = wandb.init(mode="disabled")
artifact = wandb.Artifact("a", type="t")
places = {"wandb": wandb, "wandb.Run": run, "wandb.Artifact": artifact, "wandb.Table": wandb.Table()}
parts = {"wandb.integration": ["catboost", "keras", "lightgbm", "xgboost"]}

def kind(place, name):
    if place in parts:
        return "does" if name in parts[place] else "named"
    try:
        found = getattr(places.get(place) or importlib.import_module(place), name)
    except AttributeError:
        return "not there"
    is_named = isinstance(found, Unknown) or getattr(found, "is_named", False)
    return "named" if is_named else "does"

names = json.load(sys.stdin)
print(json.dumps({place: {name: kind(place, name) for name in each} for place, each in names.items()}))
`;

test('README lists what each public name of wandb does', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wandb-surface-'));
  const env = {
    PATH: process.env['PATH'],
    PYTHONPATH: join(room, 'modules'),
    PYTHONDONTWRITEBYTECODE: '1',
    TMPDIR: folder,
  };
  const running = promisify(execFile)('python3', ['-c', probe], { env, cwd: folder });
  running.child.stdin?.end(JSON.stringify(wandbNames));
  const kinds: Record<string, Record<string, string>> = JSON.parse((await running).stdout);
  await rm(folder, { recursive: true });

  const list = (place: string, kind: string): string =>
    Object.entries(kinds[place] ?? {})
      .filter(([, found]) => found === kind)
      .map(([name]) => `\`${name}\``)
      .join(' ') || '-';
  const rows = Object.keys(wandbNames).map(
    (place) =>
      `| \`${place}\` | ${list(place, 'does')} | ${list(place, 'named')} | ${list(place, 'not there')} |`,
  );

  expect(await readFile(join(room, 'README.md'), 'utf8')).toContain(rows.join('\n'));
  expect(rows.every((row) => row.endsWith('| - |'))).toBe(true);
});
