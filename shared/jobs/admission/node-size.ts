import type { Prices } from '../../core/prices.ts';

type Node = Prices['nodes'][number];

/** The size that a job needs of each of its nodes. */
export interface NodeDemand {
  vcpus: number;
  gpus: number;
  /** MiB; any, unless given. */
  memory?: number | undefined;
}

/** Share of a node's memory that the kernel and the ECS agent use; AWS advises to subtract 5 percent. */
const systemShare = 0.06;

/** MiB of a node that a job can have. */
export const usableMemory = ({ memory }: Pick<Node, 'memory'>): number =>
  Math.floor(memory * (1 - systemShare));

/** The cheapest node that is large enough; undefined where none is. */
export function smallestNode(nodes: readonly Node[], job: NodeDemand): Node | undefined {
  const { vcpus, gpus, memory = 0 } = job;
  const large = nodes.filter(
    (node) => node.vcpus >= vcpus && node.gpus >= gpus && usableMemory(node) >= memory,
  );
  return large.toSorted((one, other) => one.price - other.price)[0];
}
