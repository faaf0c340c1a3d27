import { buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../context.ts';
import { optionsText } from '../options-text.ts';
import {
  cancelSweepCommand,
  extendCommand,
  pauseCommand,
  resumeCommand,
  retryCommand,
  rmSweepCommand,
} from './change.ts';
import { lsSweepsCommand, showSweepCommand } from './show.ts';
import { startCommand, startFlags } from './start.ts';

/** `mps sweep`: with a file or flags it begins one. */
export const sweepRoutes = buildRouteMap<string, CliContext>({
  routes: {
    start: startCommand,
    ls: lsSweepsCommand,
    show: showSweepCommand,
    pause: pauseCommand,
    resume: resumeCommand,
    retry: retryCommand,
    extend: extendCommand,
    cancel: cancelSweepCommand,
    rm: rmSweepCommand,
  },
  defaultCommand: 'start',
  docs: {
    brief: 'Try many settings of a training, and find the best',
    fullDescription: `Tries many settings of this folder's training, and ranks them by a metric. "mps sweep FILE" and "mps sweep -S …" begin one, as "mps sweep start" does.

Examples:
  mps sweep sweep.yaml
  mps sweep -S learning_rate=1e-4..1e-1:log -S model.depth=2,4,8 --trials 20 --parallel 4 -- python train.py
  mps sweep show -f
  mps sweep extend --trials 40

OPTIONS OF A NEW SWEEP
${optionsText(startFlags)}`,
  },
});
