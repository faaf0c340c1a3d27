import { runStage } from '../stage/run-stage.ts';

await runStage();
