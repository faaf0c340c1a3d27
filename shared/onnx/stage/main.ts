import { runStage } from './run-stage.ts';

await runStage();
