import { lineColour } from './colours.ts';

/** Legend of the experiments. Colours follow their order. */
export const Legend = ({
  experiments,
}: {
  experiments: readonly { experiment_id: string; name: string }[];
}) => (
  <ul class="legend">
    {experiments.map(({ experiment_id, name }, index) => (
      <li key={experiment_id}>
        <i style={{ background: `var(--${lineColour(index)})` }} />
        <bdi class="ellipsis" title={name}>
          {name}
        </bdi>
      </li>
    ))}
  </ul>
);
