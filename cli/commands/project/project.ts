import type { CliContext } from '../../context.ts';
import { connect } from '../../login/connect.ts';
import { requireProject } from '../../projects/find-project.ts';
import { criterionText, setCriterion } from '../../projects/set-criterion.ts';
import { command } from '../command.ts';
import { json, type ProjectFlags, project as projectFlag, text } from '../flags.ts';

export const projectCommand = command({
  brief: "Show the folder's project, or change what ranks its experiments",
  help: `The criterion decides what "best" means in lists, sweeps and the console. The key criterion of mps.yaml sets it, too.

Examples:
  mps project
  mps project --criterion val_loss
  mps project --criterion "metrics/mAP50-95(B)"
  mps project --criterion fitness:max`,
  flags: {
    criterion: text(
      'NAME[:min|max]',
      'Metric that ranks the experiments, with its direction if its name does not say it',
    ),
    project: projectFlag,
    json,
  },
  run: project,
});

async function project(
  this: CliContext,
  { criterion, project: given, json: isJson = false }: Flags,
): Promise<void> {
  const session = await connect(this.env);
  const found = await requireProject(session, this.folder, given);
  const changed = criterion === undefined ? undefined : await setCriterion(session.client, found, criterion);
  const shown = changed === undefined ? found : await requireProject(session, this.folder, found.project_id);
  if (isJson) {
    this.printer.json(shown);
    return;
  }
  this.printer.facts([
    ['project', shown.project_name],
    ['owner', shown.owner],
    ['ranked by', `${criterionText(shown)} (${sources[shown.criterion_source]})`],
    ['created', shown.created_at],
    ['id', shown.project_id],
  ]);
}

const sources = {
  project: 'chosen for the project',
  task: "from the project's task",
  'first-run': 'from its first run',
  default: 'until a run reports another metric',
} as const;

interface Flags extends ProjectFlags {
  criterion?: string;
}
