import * as z from 'zod';
import { maxTrackedName, TaggedName } from '../../data/rules/tracked.ts';
import { text } from './scalars.ts';

/** Name of a metric, param or tag, by the rules of MLflow's own server. */
export const trackedName = text.pipe(TaggedName);

const plain = /^\w[\w :-]*(?:[./]\w[\w :-]*)*$/;

/** Whether a name is as most are, in ASCII: what this takes {@link trackedName} takes, in twenty times the time. */
export const isPlainName = (name: string): boolean => name.length <= maxTrackedName && plain.test(name);

/** A tag or param as it is sent. */
export const namedValue = z.object({ key: trackedName, value: text.default('') });
