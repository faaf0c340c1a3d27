import { fitted, textWidth } from '../../../drawing/drawn-text.ts';
import type { ConfigGraph, ConfigGraphKind, ConfigGraphNode } from '../config-graph.ts';
import { dependencyKeys, outputKeys } from '../find-stages.ts';

/** Text and size of a node's box. */
export interface NodeCard {
  title: string;
  /** Text after the title, in the same line. */
  value: string;
  details: string[];
  width: number;
  height: number;
}

export const titleSize = 13;

export const detailSize = 11;

const maxWidth = 320;

const padding = 12;

const titleHeight = 18;

const detailHeight = 15;

export function nodeCard(kind: ConfigGraph['kind'], node: ConfigGraphNode): NodeCard {
  const title = fitted(node.label, maxWidth - 2 * padding, titleSize, true);
  const titleWidth = textWidth(title, titleSize, true);
  if (kind === 'structure') {
    const { value = node.attributes['merges'] } = node.attributes;
    const shown = value === undefined ? '' : fitted(`${value}`, maxWidth, detailSize);
    const width = 2 * padding + titleWidth + (shown === '' ? 0 : 8 + textWidth(shown, detailSize));
    return { title, value: shown, details: [], width, height: 28 };
  }
  const details = detailsOf(kind, node).map((line) => fitted(line, maxWidth - 2 * padding, detailSize));
  const width = 2 * padding + Math.max(titleWidth, 60, ...details.map((line) => textWidth(line, detailSize)));
  return { title, value: '', details, width, height: padding + titleHeight + details.length * detailHeight };
}

/** Attributes to leave out, because edges already show a stage's dependencies and outputs. */
const shownByEdges: ReadonlySet<string> = new Set([...dependencyKeys, ...outputKeys]);

const maxDetails = 3;

function detailsOf(kind: ConfigGraphKind, { label, type, attributes }: ConfigGraphNode): string[] {
  const shown = Object.entries(attributes).filter(
    ([key, value]) => value !== label && !(kind === 'pipeline' && shownByEdges.has(key)),
  );
  const lines = shown.map(([key, value]) => `${key}: ${value}`);
  const typeLine = kind === 'layers' && type !== label ? [type] : [];
  return [...typeLine, ...lines].slice(0, maxDetails);
}

/** Text positions from a card's upper left corner: the left edge and the base line of each line. */
export const cardText = {
  x: padding,
  title: 19,
  detail: (index: number): number => 20 + (index + 1) * detailHeight,
};
