import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create as createTar } from 'tar';
import { upload } from './upload.ts';
import type { Witness } from './witness.ts';

const projectQuery = {
  'project-name': 'secrets',
  'project-description': 'Has secrets',
  'project-type': 'vision',
  'project-task': 'classification',
};
const system = { env_type: 'system', dependencies: 'none' };

type Files = Readonly<Record<string, string | Buffer>>;

/** A `.tar.gz` of these files. */
export async function archiveOf(files: Files): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'mps-source-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      const file = join(folder, 'source', name);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, content);
    }
    const file = join(folder, 'source.tgz');
    await createTar({ gzip: true, file, cwd: join(folder, 'source') }, Object.keys(files));
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** A project that runs `train.sh` of these files. Returns its path. */
export async function newSecretProject(
  witness: Witness,
  token: string,
  files: Files,
  environment: Readonly<Record<string, string>> = system,
): Promise<string> {
  const { project_id } = await witness.must('POST', '/projects/', { token, query: projectQuery });
  const path = `/projects/${project_id}`;
  await witness.must('PUT', `${path}/configs/train.yaml`, { token, body: 'epochs: 3\n' });
  const source = await archiveOf(files);
  await upload(witness, token, `${path}/source`, source);
  const sha256 = createHash('sha256').update(source).digest('hex');
  await witness.must('PUT', `${path}/source`, { token, query: { sha256 } });
  const query = { entry_point_command: 'sh train.sh', ...environment };
  await witness.must('PUT', `${path}/environment`, { token, query });
  return path;
}
