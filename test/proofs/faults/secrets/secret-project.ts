import { createHash } from 'node:crypto';
import { archiveOf, type SourceFiles } from '../world/source-archive.ts';
import { upload } from './upload.ts';
import type { Witness } from './witness.ts';

const projectQuery = {
  'project-name': 'secrets',
  'project-description': 'Has secrets',
  'project-type': 'vision',
  'project-task': 'classification',
};
const system = { env_type: 'system', dependencies: 'none' };

/** A project that runs `train.sh` of these files. Returns its path. */
export async function newSecretProject(
  witness: Witness,
  token: string,
  files: SourceFiles,
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
