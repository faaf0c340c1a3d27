import * as z from 'zod';
import { notFound } from '../../../shared/core/service-error.ts';
import { originOf } from '../../../shared/data/accounts/ci-run.ts';
import { projectExists } from '../../../shared/data/projects/project.ts';
import { putRule } from '../../../shared/data/sweeps/rung.ts';
import { putSweep, type Sweep } from '../../../shared/data/sweeps/sweep.ts';
import { putSweepConfig } from '../../../shared/data/sweeps/sweep-run.ts';
import { putTurn } from '../../../shared/data/sweeps/sweep-turn.ts';
import { tryWrite } from '../../../shared/data/table/write-label.ts';
import { defineEndpoint } from '../../../shared/http/definition/definition.ts';
import { fields } from '../../../shared/http/definition/endpoint-input.ts';
import { projectPath } from '../../../shared/http/definition/parameters.ts';
import { SweepSpec } from '../../../shared/sweeps/spec.ts';
import { SweepAnswer } from '../../../shared/sweeps/trials/show-sweep.ts';
import { takeTurnInRequest } from '../../../shared/sweeps/trials/take-turns.ts';
import { expectedParameters } from '../training/expected-inputs.ts';
import { answerSweep, decidingNeeds } from './sweep.ts';
import { resolveSweep, specMaxBytes } from './sweep-request.ts';

export const endpoint = defineEndpoint({
  name: 'createSweep',
  method: 'POST',
  path: '/projects/{project_id}/sweeps',
  summary: 'Begin a sweep: experiments that differ in the values of parameters',
  description:
    'All experiments have the inputs that the project has now. Their ends begin the next ones; a sweep needs no process of its own. Experiments count for the user who begins the sweep. `POST …/sweeps/estimate` says first what it takes.',
  allow: 'developer',
  project: 'developer',
  right: 'run',
  audit: { fields: ['name', 'config', 'method', 'trials', 'budget'] },
  needs: decidingNeeds,
  input: {
    path: projectPath,
    query: z.strictObject(expectedParameters),
    body: fields(SweepSpec, specMaxBytes),
  },
  work: 'page: as many experiments as begin in 12 s; the reconciler begins the others',
  output: { 200: SweepAnswer },
  problems: ['conflict', 'too-large', 'unsupported-media-type'],
  etag: true,
  idempotent: {
    kind: 'creates',
    table: 'records',
    replayCreated: (sweep_id, { records, project }) =>
      answerSweep(records, { project_id: project.project_id, sweep_id }),
  },

  async handle({ body: spec, query: expected }, context) {
    const { records, project, caller, newId, now, idempotencyWrites } = context;
    const { project_id } = project;
    const { inputs, ...resolved } = await resolveSweep(spec, expected, context);
    const { content, git: _, rerun_of: __, overrides: ___, continues_from: ____, ...kept } = inputs;
    const sweep_id = newId();
    const created_at = now().toISOString();
    const sweep: Sweep = {
      ...resolved,
      sweep_id,
      project_id,
      user_id: caller.user_id,
      ...originOf(caller),
      name: spec.name ?? `${spec.method} sweep`,
      note: spec.note ?? null,
      status: 'RUNNING',
      status_reason: null,
      spec: JSON.stringify(spec),
      inputs: kept,
      begun: 0,
      again: [],
      running: [],
      counts: { complete: 0, stopped_early: 0, failed: 0, cancelled: 0 },
      first: [],
      best: null,
      spent: 0,
      decisions: 0,
      cancelled_by: null,
      created_at,
      updated_at: created_at,
      ended_at: null,
      version: 1,
    };
    const turn = { turn_id: newId(), project_id, sweep_id, created_at };
    const writes = [
      projectExists(project_id),
      putSweep(sweep),
      putSweepConfig(sweep, content),
      ...(spec.stop === undefined ? [] : [putRule(sweep, { ...spec.stop, criterion: sweep.criterion })]),
      putTurn(turn),
      ...idempotencyWrites(sweep_id),
    ];
    if (!(await tryWrite(records.write(...writes)))) throw notFound('project', project_id);
    await takeTurnInRequest(context, turn);
    return answerSweep(records, { project_id, sweep_id });
  },
});
