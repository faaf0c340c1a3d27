import type { Experiment } from '../../shared/data/experiments/experiment.ts';
import type { ExperimentFields } from '../../shared/data/experiments/tracking.ts';
import type { Discretion } from './hidden-params.ts';
import { NameSearch } from './name-search.ts';

/** Names of params and tags whose values tell who or where. */
const telling =
  /user|author|owner|creator|person|mail|contact|login|account|team|company|entity|organi[sz]ation|institut|affiliation|universit|workspace|namespace|bucket|project|comment|description|host|machine|server|cluster|node_?name|address|(?:^|[^a-z])(?:dir|cwd|cmd|argv|ip|lab|by)(?:$|[^a-z])|path|command|folder|file|home|ur[il]|repo|git|commit|branch|source|revision|token|secret|password|key$/i;

/** Texts that tell who or where, whatever their name is. */
const patterns = [
  // Folders of users.
  /(?:^|[\\/])(?:home|users?|u|scratch)[\\/]/i,
  /[a-z]:\\/i,
  /~[\\/\w]/,
  /\/\//,
  // Addresses, and identifiers of authors.
  /@/,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/,
  /(?:[0-9a-f]{1,4}:){4}|::[0-9a-f]{1,4}:/i,
  /\b\d{4}-\d{4}-\d{4}-\d{3}[\dx]\b/i,
  /(?:^|[^a-z0-9.-])(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|mil|io|ai|dev|app|cloud|local|internal|lan|corp|example|test|ac|at|au|br|ca|ch|cn|cz|de|dk|es|eu|fi|fr|gr|hk|ie|il|it|jp|kr|nl|nz|pl|ru|se|sg|tr|tw|uk|us)(?=$|[^a-z0-9.-])/i,
  // Commits: hexadecimal digits, letters among them.
  /(?<![0-9a-z])(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}(?![0-9a-z])/i,
];

/**
 * Create what leaves out names of users, hosts, folders and commits, and what looks like them.
 * @param known names of the users of the project, which are also looked for by their parts, and of the project
 * @param experiments all experiments of the link: their tags, params and runs of CI tell further names
 */
export function anonymizer(
  { usernames, project_name }: { usernames: readonly string[]; project_name: string },
  experiments: readonly Told[],
): Discretion {
  const names = new NameSearch({ isAnywhere: true });
  const add = (name: string) => {
    if (name.length >= 2 && !ordinary.has(name) && !/^[\d.]+$/.test(name)) names.add(name);
  };
  for (const { fields, ci } of experiments) {
    for (const [name, value] of [
      ...Object.entries(fields?.tags ?? {}),
      ...Object.entries(fields?.params ?? {}),
    ])
      if (telling.test(name)) namesIn(value).forEach(add);
    for (const source of [fields?.git?.branch, ci?.ref, ci?.name, ci?.actor])
      for (const name of [...namesIn(source ?? ''), ...partsOf(source ?? '')]) add(name);
    for (const commit of [fields?.git?.commit, ci?.commit])
      add(commit?.slice(0, minCommit).toLowerCase() ?? '');
  }
  for (const name of usernames)
    for (const part of [...partsOf(name, 2), partsOf(name, 1).join('')]) add(part);
  // A user or a project may have an ordinary name.
  for (const name of [...usernames, project_name]) names.add(name.toLowerCase());
  const shows = (text: string): boolean =>
    !patterns.some((pattern) => pattern.test(text)) && !names.isIn(plain(text));
  return {
    shows,
    // A value with a slash may be a path.
    showsParam: (name, value) => !telling.test(name) && shows(name) && shows(value) && !/[\\/]/.test(value),
  };
}

interface Told extends Pick<Experiment, 'ci'> {
  fields: ExperimentFields | undefined;
}

/** Characters of a commit by which others find it. */
const minCommit = 7;

/** Names of users are of plain letters, while people write `José`. */
const plain = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Return the parts of a name: `grace.hopper` tells of a Hopper. */
const partsOf = (name: string, atLeast = 3): string[] =>
  name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part.length >= atLeast);

/** Return the names in a value that tells where: all of it, the host, and the users of folders, addresses and repositories. */
function namesIn(value: string): string[] {
  const lower = value.toLowerCase().slice(0, 300);
  const user = /(?:home|users?|scratch)[\\/]+([^\\/\s]+)/.exec(lower)?.[1];
  const host = /^([a-z0-9-]+)(?:\.[a-z0-9.-]+)?$/.exec(lower)?.[1];
  const address = /^([^@\s]+)@/.exec(lower)?.[1];
  const [, owner, name] = /(?:\/\/|@)[^/:]+[/:]([^/\s]+)\/([^/\s]+?)(?:\.git)?(?:\/|$)/.exec(lower) ?? [];
  return [lower, user, host, address, owner, name].filter((name) => name !== undefined);
}

/** Values that are no names although their param may be. */
const ordinary = new Set(
  'true false none null auto local main master dev head heads tags refs train val test data model models run runs experiment loss accuracy adam cpu gpu cuda default root git www http https com org'.split(
    ' ',
  ),
);
