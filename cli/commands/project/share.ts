import { buildRouteMap } from '@stricli/core';
import type { endpoint as createLink } from '../../../functions/links/create-link.endpoint.ts';
import type { endpoint as deleteLink } from '../../../functions/links/delete-link.endpoint.ts';
import type { endpoint as listLinks } from '../../../functions/links/list-links.endpoint.ts';
import type { endpoint as listReports } from '../../../functions/projects/reports/list-reports.endpoint.ts';
import type { Client } from '../../../shared/client/client.ts';
import { consoleLink, consoleOf } from '../../../shared/client/console-link.ts';
import type { RowOf } from '../../../shared/client/route.ts';
import { CliError, exitCodes, refuseBoth, usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { findExperiment } from '../../experiments/find-experiment.ts';
import { connect } from '../../login/connect.ts';
import { projectSession } from '../../projects/project-session.ts';
import { namedSweep } from '../../sweeps/find-sweep.ts';
import { experimentIdOf } from '../arguments.ts';
import { command } from '../command.ts';
import { choice, json, period, project, text } from '../flags.ts';
import { removeNamed } from './remove-named.ts';

/** Find what is shared. @throws CliError */
async function subjectOf(
  context: CliContext,
  { project: given, sweep, view, report }: Partial<Record<'project' | 'sweep' | 'view' | 'report', string>>,
  ids: readonly string[],
) {
  refuseBoth({ sweep, view, report }, 'Share one of them.');
  if ((sweep ?? view ?? report) !== undefined && ids.length > 0)
    throw new CliError('Name experiments, or --sweep, --view or --report.', exitCodes.usage);
  if (sweep !== undefined) {
    const { session, path } = await namedSweep(context, given, sweep);
    return {
      session,
      project_id: path.project_id,
      subject: { kind: 'sweep' as const, sweep_id: path.sweep_id },
    };
  }
  if (view !== undefined) {
    const { path, ...session } = await projectSession(context, given);
    return { session, ...path, subject: { kind: 'view' as const, name: view } };
  }
  if (report !== undefined) {
    const { path, ...session } = await projectSession(context, given);
    const report_id = await reportNamed(session.client, path, report);
    return { session, ...path, subject: { kind: 'report' as const, report_id } };
  }
  const session = await connect(context.env);
  const experiments = [];
  for (const id of ids.length === 0 ? ['latest'] : ids)
    experiments.push(await findExperiment(session, context.folder, { project: given, id }));
  const [first] = experiments;
  const foreign = experiments.find(({ project_id }) => project_id !== first?.project_id);
  if (first === undefined || foreign !== undefined)
    throw new CliError('The experiments of a link are of one project.', exitCodes.usage);
  const { project_id, experiment_id } = first;
  const subject =
    experiments.length === 1
      ? { kind: 'experiment' as const, experiment_id }
      : { kind: 'comparison' as const, experiment_ids: experiments.map(({ experiment_id: id }) => id) };
  return { session, project_id, subject };
}

/** Return the ID of the report with this ID, end of an ID, or title. @throws CliError */
async function reportNamed(client: Client, path: { project_id: string }, name: string): Promise<string> {
  const matching: RowOf<typeof listReports>[] = [];
  for await (const report of client.rows<typeof listReports>('GET /projects/{project_id}/reports', { path }))
    if (report.title === name || (name.length >= 4 && report.report_id.endsWith(name))) matching.push(report);
  const [report, ...others] = matching;
  if (report === undefined) throw new CliError(`The project has no report "${name}". Give its ID or title.`);
  if (others.length > 0)
    throw new CliError(
      `Several reports are called "${name}":\n${matching.map(({ report_id, title }) => `  ${report_id}  ${title}`).join('\n')}`,
      exitCodes.usage,
    );
  return report.report_id;
}

const makeCommand = command({
  brief: 'Share experiments by a link',
  help: 'Only the owner of the project and admins share. Look at the page yourself before you send it.\n\nExamples:\n  mps share 8wkr7 --for 30d --anonymous\n  mps share --sweep latest',
  args: [
    { ...experimentIdOf('Experiments to show, one or several to compare (default: latest)'), several: 0 },
  ],
  flags: {
    sweep: text('ID', 'Show this sweep instead'),
    view: text('NAME', 'Show this saved view of the project instead'),
    report: text('ID', 'Show this report of the project instead, by its ID or title'),
    for: { ...period, brief: 'Time until the link ends, such as 8h or 30d (default: 30d)' },
    anonymous: choice('Leave out users, commit, note, tags, and what looks like a path or an address'),
    files: choice('Show the artifacts, too'),
    hide: { ...text('PARAM', 'Param not to show; may be repeated'), variadic: true },
    project,
    json,
  },
  async run(
    { for: expires_in, hide = [], anonymous = false, files = false, json: isJson, ...named },
    ...ids
  ) {
    const { session, project_id, subject } = await subjectOf(this, named, ids);
    const shown = {
      subject,
      anonymous,
      files,
      hide: [...hide],
      ...(expires_in !== undefined && { expires_in }),
    };
    const { secret, ...link } = await usageFaults(
      session.client.call<typeof createLink>('POST /projects/{project_id}/links', {
        path: { project_id },
        body: shown,
      }),
    );
    const url = consoleLink(consoleOf(session.client.url), ['s', secret]);
    if (isJson) return this.printer.json({ ...link, url });
    this.printer.line(url);
    const until = link.expires_at.slice(0, 10);
    this.printer.say(
      `Whoever has this address sees it without an account until ${until}. "mps share rm ${link.link_id}" revokes it.`,
    );
  },
});

const lsCommand = command({
  brief: 'List the links of the project',
  help: 'Example:\n  mps share ls',
  flags: { project, json },
  async run({ project: given, json: isJson }) {
    const { client, path } = await projectSession(this, given);
    const links = client.rows<typeof listLinks>('GET /projects/{project_id}/links', { path });
    await this.printer.list(links, isJson, ['LINK', 'SHOWS', 'WHICH', '', 'CREATED', 'UNTIL'], (link) => {
      const { link_id, kind, about, anonymous, files, created_at, expires_at } = link;
      const shows = [anonymous ? 'anonymous' : '', files ? 'files' : ''].filter(Boolean);
      const dates = [created_at, expires_at].map((time) => time.slice(0, 10));
      return [link_id, kind, about.join(' '), shows.join(', '), ...dates];
    });
  },
});

const rmCommand = removeNamed({
  many: 'Links',
  brief: 'Revoke links of the project',
  example: 'mps share rm 01k…',
  remove: ({ client, path }, link_id) =>
    client.call<typeof deleteLink>('DELETE /projects/{project_id}/links/{link_id}', {
      path: { ...path, link_id },
    }),
  said: (link_id) => `${link_id} is revoked.`,
});

export const shareRoutes = buildRouteMap<string, CliContext>({
  routes: { new: makeCommand, ls: lsCommand, rm: rmCommand },
  defaultCommand: 'new',
  docs: {
    brief: 'Share experiments, sweeps, views and reports by links',
    fullDescription:
      '"mps share RUN" makes a link, as "mps share new" does.\n\nExamples:\n  mps share 8wkr7 --for 30d --anonymous\n  mps share ls\n  mps share rm 01k…',
  },
});
