import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { buildRouteMap } from '@stricli/core';
import type { endpoint as listConfigs } from '../../../functions/projects/configs/list-configs.endpoint.ts';
import type { endpoint as putConfig } from '../../../functions/projects/configs/put-config.endpoint.ts';
import type { endpoint as readConfig } from '../../../functions/projects/configs/read-config.endpoint.ts';
import type { endpoint as readConfigGraph } from '../../../functions/projects/configs/read-config-graph.endpoint.ts';
import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { CliError, exitCodes, refuseBoth } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { saveJson, saveText } from '../../output/save-text.ts';
import { projectSession, projectToFill } from '../../projects/project-session.ts';
import { configArgument, localPath } from '../arguments.ts';
import { command } from '../command.ts';
import { force, json, project, text } from '../flags.ts';

const to = text('FILE', 'File to save it in (default: print it)');

const version = text('N', 'Version of the configuration (default: the newest)');

const byVersion = (given: string | undefined) => (given === undefined ? {} : { version: given });

/**
 * Refuse files with the same name, because a configuration's ID is its file name.
 *
 * @throws CliError if two files share a name
 */
function refuseClashes(files: readonly string[]): void {
  for (const file of files) {
    const name = basename(file);
    const same = files.filter((file) => basename(file) === name);
    if (same.length > 1)
      throw new CliError(`${same.join(' and ')} would both be ${name}. Rename one.`, exitCodes.usage);
  }
}

const pushCommand = command({
  brief: 'Store configuration files',
  help: 'Every change makes a new version. "mps run" stores its configuration automatically.\n\nExample:\n  mps config push train.yaml',
  args: [{ ...localPath('YAML, JSON or TOML files'), several: 1 }],
  flags: { project, json },
  async run({ project: given, json: isJson }, ...files) {
    refuseClashes(files);
    const read = async (file: string) => {
      const content = await readFile(resolve(this.folder, file), 'utf8').catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error;
          throw new CliError(`There is no file ${file}.`, exitCodes.usage);
        },
      );
      return { config_id: basename(file), content };
    };
    const configs = await Promise.all(files.map(read));
    const session = await connect(this.env);
    const path = await projectToFill(this, session, given);
    for (const { config_id, content } of configs) {
      const route = 'PUT /projects/{project_id}/configs/{config_id}';
      const stored = await session.client.call<typeof putConfig>(route, {
        path: { ...path, config_id },
        file: content,
      });
      if (isJson) this.process.stdout.write(`${JSON.stringify(stored)}\n`);
      else this.printer.say(`${config_id}  version ${stored.version}, ${bytesText(stored.size)}`);
    }
  },
});

const pullCommand = command({
  brief: 'Print or save a configuration',
  help: 'Examples:\n  mps config pull train.yaml\n  mps config pull train.yaml --version 3 --to old.yaml',
  args: [configArgument],
  flags: { to, force, version, project, json },
  async run(flags, config_id) {
    const { client, path } = await projectSession(this, flags.project);
    const route = 'GET /projects/{project_id}/configs/{config_id}';
    const config = await client.call<typeof readConfig>(route, {
      path: { ...path, config_id },
      query: byVersion(flags.version),
    });
    if (flags.json) await saveJson(this, flags, config);
    else await saveText(this, flags, config.content);
  },
});

const forms = { svg: 'image/svg+xml', mermaid: 'text/vnd.mermaid', dot: 'text/vnd.graphviz' } as const;

const formNames = ['svg', 'mermaid', 'dot'] as const;

const graphCommand = command({
  brief: 'Draw the graph of a configuration',
  help: 'The stages of a pipeline, the layers of a model, or the structure of the document.\n\nExamples:\n  mps config graph train.yaml\n  mps config graph train.yaml --to graph.svg',
  args: [configArgument],
  flags: {
    form: {
      kind: 'enum',
      values: formNames,
      brief: 'Format (default: SVG if --to ends in .svg, else Mermaid)',
      optional: true,
    },
    to,
    force,
    version,
    project,
    json,
  },
  async run(flags, config_id) {
    refuseBoth({ json: flags.json, form: flags.form }, 'Choose one of --json and --format.');
    const { client, path } = await projectSession(this, flags.project);
    const route = 'GET /projects/{project_id}/configs/{config_id}/graph';
    const request = { path: { ...path, config_id }, query: byVersion(flags.version) };
    if (flags.json) {
      await saveJson(this, flags, await client.call<typeof readConfigGraph>(route, request));
      return;
    }
    const form = flags.form ?? (flags.to?.endsWith('.svg') ? 'svg' : 'mermaid');
    await saveText(this, flags, await client.text<typeof readConfigGraph>(route, forms[form], request));
  },
});

const lsCommand = command({
  brief: 'List the configurations of a project',
  help: 'Example:\n  mps config ls',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const rows = client.rows<typeof listConfigs>('GET /projects/{project_id}/configs', { path });
    await this.printer.list(rows, isJson, ['CONFIGURATION', 'VERSION', 'SIZE', 'UPDATED'], (row) => [
      row.config_id,
      String(row.version),
      bytesText(row.size),
      row.updated_at.slice(0, 16).replace('T', ' '),
    ]);
  },
});

export const configRoutes = buildRouteMap<string, CliContext>({
  routes: { push: pushCommand, pull: pullCommand, graph: graphCommand, ls: lsCommand },
  docs: { brief: 'Store, print and draw configurations' },
});
