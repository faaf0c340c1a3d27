import { useMemo } from 'preact/hooks';
import { axisOf } from '../charts/values/axis.ts';
import { Scatter } from '../charts/values/scatter-plot.tsx';
import { go, href } from '../ui/router.ts';
import { plural } from '../ui/text/format.ts';
import { type NamedVersions, sourceOf } from './version-row.tsx';

const minPoints = 2;

/** Best values of the experiments that made the versions of a name, oldest first. Nothing below two values. */
export function VersionsPlot({ all, metric }: { all: NamedVersions; metric: string }) {
  const drawn = useMemo(() => {
    const points = all.versions
      .flatMap((version) => {
        const experiment = sourceOf(version, all.sources);
        const best = experiment?.best;
        if (experiment === undefined || best?.metric !== metric) return [];
        const name = `version ${version.version}, ${experiment.name}`;
        return [{ name, number: Number(version.version), value: best.value, experiment }];
      })
      .sort((a, b) => a.number - b.number);
    const numbers = points.map(({ number }) => number);
    const x = axisOf('version', numbers, { isLog: false });
    const y = axisOf(
      metric,
      points.map(({ value }) => value),
      { isOutcome: true },
    );
    if (x === undefined || y === undefined || points.length < minPoints) return undefined;
    return {
      points,
      x: { ...x, ticks: x.ticks.filter(({ unit }) => Number.isInteger(unit)) },
      y,
      everyPoint: points.map(() => true),
    };
  }, [all, metric]);
  if (drawn === undefined) return null;
  const { points, x, y, everyPoint } = drawn;
  return (
    <Scatter
      title={
        <strong>
          Best <bdi>{metric}</bdi> over versions
        </strong>
      }
      label={`Best ${metric} of ${plural(points.length, 'version')}.`}
      x={x}
      y={y}
      items={points}
      chosen={everyPoint}
      onOpen={({ experiment: { project_id, experiment_id } }) =>
        go(href(['projects', project_id, 'experiments', experiment_id]))
      }
    />
  );
}
