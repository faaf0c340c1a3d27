import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import type { endpoint as listDatasets } from '../../../functions/projects/uploads/list-datasets.endpoint.ts';
import { quoteCommand } from '../../../shared/command/quote-command.ts';
import { FileId } from '../../../shared/core/formats.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { LiveLine } from '../../output/live-line.ts';
import { projectSession, projectToFill } from '../../projects/project-session.ts';
import { datasetUpload, withDataFile } from '../../upload/dataset-upload.ts';
import { sendUnlessKnown } from '../../upload/send-unless-known.ts';
import { untilInterrupted } from '../../upload/until-interrupted.ts';
import { datasetArgument, localPath } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, project } from '../flags.ts';

const pushCommand = command({
  brief: 'Upload a file or folder as a data set',
  help: `A folder is packed and an archive is unpacked, so a training finds the files in DATA_DIR. Paths in .mpsignore are left out. A file that the service already has is not sent again.

Examples:
  mps data push digits data/
  mps data push digits digits.tar.gz -p other-project
  mps data push digits digits.npz --as-file`,
  args: [datasetArgument, localPath('File, or folder to pack')],
  flags: { asFile: choice('Do not unpack an archive; needed for .npz files'), project, json },
  async run({ asFile = false, project: given, json: isJson }, dataset, place) {
    const { printer } = this;
    const path = resolve(this.folder, place);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw new CliError(`There is no file or folder ${path}.`, exitCodes.usage);
    if (asFile && found.isDirectory())
      throw new CliError(`${path} is a folder; --as-file takes a file.`, exitCodes.usage);
    const misnamed = FileId.safeParse(dataset).error?.issues[0]?.message;
    if (misnamed !== undefined) throw new CliError(`The data set ${dataset} ${misnamed}.`, exitCodes.usage);
    const session = await connect(this.env);
    const line = new LiveLine(printer);
    const work = (signal: AbortSignal) =>
      withDataFile(
        path,
        { isFolder: found.isDirectory(), signal, onStep: (text) => line.set(text) },
        async (file) => {
          line.end();
          const { project_id } = await projectToFill(this, session, given);
          const upload = datasetUpload(session.client, { project_id, dataset }, file, { asFile, signal });
          const onProgress = (bytes: number) =>
            line.set(`uploading ${bytesText(bytes)} of ${bytesText(file.size)}`);
          const { isSent, accepted } = await sendUnlessKnown(upload, file, { signal, onProgress });
          return { size: file.size, isSent, dataset: accepted ?? (await upload.accept()) };
        },
      );
    try {
      const {
        size,
        isSent,
        dataset: accepted,
      } = await untilInterrupted(
        work,
        `Interrupted; the data set ${dataset} is unchanged. Run the same command again to send it.`,
      );
      line.end();
      if (isJson) printer.json(accepted);
      else {
        const told = `${accepted.format}, ${bytesText(size)}${isSent ? '' : ', unchanged: nothing to upload'}`;
        printer.say(
          `${dataset}  ${told}\nTrain with it: mps run${given === undefined ? '' : ` -p ${quoteCommand([given])}`} --dataset ${dataset}`,
        );
      }
    } finally {
      line.end();
    }
  },
});

const lsCommand = command({
  brief: 'List the data sets of a project',
  help: 'Example:\n  mps data ls',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const rows = client.rows<typeof listDatasets>('GET /projects/{project_id}/datasets', { path });
    await this.printer.list(rows, isJson, ['DATA SET', 'FORMAT', 'SIZE', 'UPDATED'], (row) => [
      row.dataset,
      row.format,
      bytesText(row.size),
      row.updated_at.slice(0, 16).replace('T', ' '),
    ]);
  },
});

export const dataRoutes = buildRouteMap<string, CliContext>({
  routes: { push: pushCommand, ls: lsCommand },
  docs: { brief: 'Upload and list data sets' },
});
