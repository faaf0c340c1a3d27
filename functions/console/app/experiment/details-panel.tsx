import type { ComponentChildren } from 'preact';

/** Facts about a thing, a name and a value each. */
export const DetailsPanel = ({ rows }: { rows: readonly [name: string, value: ComponentChildren][] }) => (
  <section class="panel">
    <h2>Details</h2>
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name} class="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  </section>
);

/** Return the size of a training, such as `2 nodes of 4 vCPU, 8.0 GiB`. */
export const sizeText = ({
  nodes,
  vcpus,
  memory,
  gpus,
}: {
  nodes: number;
  vcpus: number;
  /** MiB. */
  memory: number;
  gpus: number;
}): string =>
  `${nodes > 1 ? `${nodes} nodes of ` : ''}${vcpus} vCPU, ${(memory / 1024).toFixed(1)} GiB${gpus > 0 ? `, ${gpus} GPU` : ''}`;
