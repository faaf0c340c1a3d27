import { join } from 'node:path';
import { pointsIn } from '../kill/recorded.ts';
import { asking, mlflowCall, told } from '../kill/request-story.ts';
import { newProject } from '../world/project.ts';
import type { Service } from '../world/service.ts';
import { archiveOf } from '../world/source-archive.ts';
import { archiveFrom } from './archived.ts';

/** Files by which the proof and the command of a job speak with each other. */
export interface JobFiles {
  /** The command adds a line when it runs. */
  witness: string;
  /** The command ends once it is there. */
  gate: string;
}

export const jobFilesIn = (folder: string): JobFiles => ({
  witness: join(folder, 'ran'),
  gate: join(folder, 'gate'),
});

const scriptOf = ({ witness, gate }: JobFiles): string => `echo ran >> ${witness}
while [ ! -e ${gate} ]; do sleep 0.05; done
echo '{"name":"accuracy","value":0.9,"step":1}' >> "$METRICS_FILE"
echo made > "$OUTPUT_DIR/model.bin"
`;

/** The archive of a project that can be trained, with experiments that a client recorded. */
export const trainableArchive = (service: Service, files: JobFiles): Promise<Buffer> =>
  archiveFrom(service, async (ground) => {
    const { token } = ground;
    const source = await archiveOf({ 'train.sh': scriptOf(files) });
    const project_id = await newProject(ground.service, token, 'sh train.sh', source);
    for (const name of ['first', 'second']) {
      const made = await told(ground, asking('createExperiment', { path: { project_id }, token }, { name }));
      const { experiment_id } = made;
      await pointsIn(ground.service, { project_id, experiment_id }, 0, 2);
      const file = `${project_id}/${project_id}-${experiment_id}/artifacts/model.txt`;
      const put = mlflowCall(ground, 'PUT', `mlflow-artifacts/artifacts/${file}`);
      await told(ground, { ...put, question: { ...put.question, body: name } });
    }
    return project_id;
  });
