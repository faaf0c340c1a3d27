import { serveApart } from '../kill/apart.ts';
import { startImportLane } from './import-lane.ts';

serveApart(startImportLane);
