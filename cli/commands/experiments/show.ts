import { bytesText } from '../../../shared/core/text/bytes-text.ts';
import { foundSourceText } from '../../../shared/metrics/found-source.ts';
import type { Experiment } from '../../experiments/experiment.ts';
import { namedExperiment } from '../../experiments/find-experiment.ts';
import { bestText, summaryText } from '../../experiments/metric-text.ts';
import { dollarsText, secondsText } from '../../output/units.ts';
import { experimentId } from '../arguments.ts';
import { command } from '../command.ts';
import { json, project } from '../flags.ts';

export const showCommand = command({
  brief: 'Show an experiment',
  help: 'Examples:\n  mps show\n  mps show 4k8f --json',
  args: [experimentId],
  flags: { project, json },
  async run({ project: given, json: isJson }, id) {
    const { experiment } = await namedExperiment(this, given, id);
    if (isJson) {
      this.printer.json(experiment);
      return;
    }
    const { duration, exit_code, best, cost, cost_estimate, params, tags } = experiment;
    const facts: readonly (readonly [string, string | null])[] = [
      ['experiment', experiment.experiment_id],
      ['name', experiment.name],
      ['status', statusText(experiment)],
      ['exit code', exit_code === null ? null : String(exit_code)],
      ['created', experiment.created_at],
      ['user', experiment.user],
      ['time', duration === null ? null : secondsText(duration)],
      [
        'size',
        `${experiment.nodes} × ${experiment.vcpus} vCPU, ${experiment.memory} MiB, ${experiment.gpus} GPU`,
      ],
      [
        'config',
        experiment.config_id === null
          ? null
          : `${experiment.config_id}, version ${experiment.config_version}`,
      ],
      ['command', experiment.command],
      ['commit', gitText(experiment)],
      ['data set', experiment.dataset],
      ['best', best === null ? experiment.best_reason : bestText(experiment)],
      ...(experiment.warnings ?? []).map((warning) => ['warning', warning] as const),
      ...metricFacts(experiment),
      ['metrics', sourceText(experiment)],
      ['machine', experiment.system?.text ?? null],
      ['cost', cost === null ? null : dollarsText(cost)],
      ['spot', spotText(experiment)],
      ['at most', cost_estimate === null ? null : dollarsText(cost_estimate)],
      ['artifacts', `${experiment.artifacts} (${bytesText(experiment.artifact_bytes)})`],
      ['note', experiment.note],
      ...Object.entries(params).map(([name, value]) => [`params.${name}`, value] as const),
      ...Object.entries(tags).map(([name, value]) => [`tags.${name}`, value] as const),
    ];
    this.printer.facts(facts);
  },
});

/** Return the status with its reason. The reason of a trial that was stopped early says so. */
function statusText({ status, outcome, status_reason }: Experiment): string {
  if (status_reason === null) return status;
  return outcome === 'stopped early' ? status_reason : `${status}: ${status_reason}`;
}

/** Return what Spot did, such as `saved US$ 1.90 of 3.10; 2 interruptions`. */
function spotText({ spot, capacity }: Experiment): string | null {
  if (spot === null) return null;
  const { saved, on_demand_cost, interruptions } = spot;
  const count = `${interruptions} ${interruptions === 1 ? 'interruption' : 'interruptions'}`;
  if (saved === null || on_demand_cost === null) return `${capacity}; ${count}`;
  return `saved ${dollarsText(saved)} of ${dollarsText(on_demand_cost).replace('US$ ', '')}; ${count}`;
}

/** Return the commit, its branch, and whether the folder had uncommitted changes. */
function gitText({ git }: Experiment): string | null {
  if (git === null) return null;
  const branch = git.branch === null ? '' : ` on ${git.branch}`;
  return `${git.commit.slice(0, 12)}${branch}${git.dirty === true ? ', with uncommitted changes' : ''}`;
}

const maxMetrics = 100;

/** Return the metrics sorted by name, up to `maxMetrics`, and the number of the others. */
const sourceText = ({ metrics_source: source }: Experiment): string | null =>
  source === null || source === 'program' ? null : foundSourceText[source];

function metricFacts({ metrics }: Experiment): [string, string][] {
  const names = Object.keys(metrics).sort();
  const more = names.length - maxMetrics;
  return [
    ...names
      .slice(0, maxMetrics)
      .flatMap((name): [string, string][] =>
        metrics[name] === undefined ? [] : [[`metrics.${name}`, summaryText(metrics[name])]],
      ),
    ...(more > 0 ? [['metrics', `${more} more; --json shows all`] as [string, string]] : []),
  ];
}
