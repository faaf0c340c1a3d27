import type { Experiment } from '../api/answers.ts';
import { loadConfig, loadGraph } from '../api/experiments.ts';
import { useLive } from '../api/use-live.ts';
import { Copy } from '../ui/controls/copy.tsx';
import { Drawing } from '../ui/drawing.tsx';
import { Loaded } from '../ui/states/loaded.tsx';

/** The configuration of an experiment, as it was at the start, next to its graph. */
export function ConfigTab({ experiment }: { experiment: Experiment }) {
  const { project_id, experiment_id, overrides } = experiment;
  const path = { project_id, experiment_id };
  const config = useLive(`config/${experiment_id}`, () => loadConfig(path));
  const graph = useLive(`graph/${experiment_id}`, () => loadGraph(path));
  return (
    <div class="halves">
      <section class="panel">
        <Loaded live={config} what="The configuration could not be loaded">
          {({ config_id, config_version, content }) => (
            <>
              <div class="panel-head">
                <h2>
                  <bdi>{config_id}</bdi> <span class="soft small">version {config_version}</span>
                </h2>
                <Copy text={content} label="Copy the configuration" />
              </div>
              {overrides !== null && (
                <p class="soft small">
                  Values changed for this experiment: <code>{JSON.stringify(overrides)}</code>
                </p>
              )}
              <pre class="text wrapped" tabIndex={0}>
                {content}
              </pre>
            </>
          )}
        </Loaded>
      </section>
      <section class="panel">
        <h2>Graph</h2>
        <Loaded live={graph} what="The graph could not be loaded">
          {(svg) => <Drawing svg={svg} label="Graph of the configuration" />}
        </Loaded>
      </section>
    </div>
  );
}
