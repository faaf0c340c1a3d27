import type { endpoint as putRunBudget } from '../../../functions/experiments/budget/put-experiment-budget.endpoint.ts';
import type { endpoint as readRunBudget } from '../../../functions/experiments/budget/read-experiment-budget.endpoint.ts';
import type { endpoint as putProjectBudget } from '../../../functions/projects/budget/put-project-budget.endpoint.ts';
import type { endpoint as readProjectBudget } from '../../../functions/projects/budget/read-project-budget.endpoint.ts';
import type { endpoint as putUserBudget } from '../../../functions/users/budget/put-user-budget.endpoint.ts';
import type { endpoint as readUserBudget } from '../../../functions/users/budget/read-user-budget.endpoint.ts';
import type { endpoint as readUser } from '../../../functions/users/read-user.endpoint.ts';
import type { AnswerOf } from '../../../shared/client/route.ts';
import { refuseBoth, usageFaults } from '../../cli-error.ts';
import type { CliContext } from '../../context.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { connect } from '../../login/connect.ts';
import { dollarsText } from '../../output/units.ts';
import { projectSession } from '../../projects/project-session.ts';
import { command } from '../command.ts';
import { json, project, text } from '../flags.ts';

export const budgetCommand = command({
  brief: 'Show or set what a project, a user or a training may cost',
  help: `Budgets of projects and users are for each month (UTC). A job begins only if what it may cost, up to its timeout, is left. Once a budget is used up, what runs saves its checkpoints and ends; "mps rerun" goes on from there.

Examples:
  mps budget
  mps budget 50
  mps budget none --user ada
  mps budget 5 --run latest`,
  args: [
    {
      brief: 'New budget in US$, or none (default: show it)',
      placeholder: 'US$',
      parse: dollars,
      optional: true,
    },
  ],
  flags: {
    user: text('NAME', "Budget of a user's month; only admins set it"),
    run: text('ID', 'Budget of a training that waits or runs'),
    project,
    json,
  },
  async run(flags, change) {
    const { user, run, project: given, json: isJson } = flags;
    refuseBoth({ user, run }, 'Choose one of --user and --run.');
    const answer = await usageFaults(exchange(this, { user, run, project: given }, change));
    if (isJson) {
      this.printer.json(answer);
      return;
    }
    const { amount, month, spent, reserved, left } = answer;
    this.printer.facts([
      ['budget', amount === null ? 'none' : `${dollarsText(amount)}${month === null ? '' : ' a month'}`],
      ['month', month],
      ['spent', dollarsText(spent)],
      ['reserved', dollarsText(reserved)],
      ['left', left === null ? null : dollarsText(left)],
    ]);
  },
});

/** Parse an amount; null for `none`. */
export function dollars(text: string): Amount {
  if (text === 'none') return { amount: null };
  const amount = Number(text);
  if (text.trim() === '' || !(amount > 0)) throw new Error('must be an amount in US$, such as 5, or none');
  return { amount };
}

/** Stricli takes no null as a value. */
export interface Amount {
  amount: number | null;
}

type Answer = AnswerOf<typeof readProjectBudget>;

async function exchange(
  context: CliContext,
  { user, run, project: given }: Flags,
  change: Amount | undefined,
): Promise<Answer> {
  if (run !== undefined) {
    const { session, path } = await namedExperiment(context, given, run);
    const { client } = session;
    const at = '/projects/{project_id}/experiments/{experiment_id}/budget';
    return change === undefined
      ? client.call<typeof readRunBudget>(`GET ${at}`, { path })
      : client.call<typeof putRunBudget>(`PUT ${at}`, { path, body: change });
  }
  if (user !== undefined) {
    const { client } = await connect(context.env);
    const { user_id } = await client.call<typeof readUser>('GET /users/{username}', {
      path: { username: user },
    });
    const path = { user_id };
    return change === undefined
      ? client.call<typeof readUserBudget>('GET /users/{user_id}/budget', { path })
      : client.call<typeof putUserBudget>('PUT /users/{user_id}/budget', { path, body: change });
  }
  const { client, path } = await projectSession(context, given);
  return change === undefined
    ? client.call<typeof readProjectBudget>('GET /projects/{project_id}/budget', { path })
    : client.call<typeof putProjectBudget>('PUT /projects/{project_id}/budget', { path, body: change });
}

interface Flags {
  user?: string | undefined;
  run?: string | undefined;
  project?: string | undefined;
  json?: boolean;
}
