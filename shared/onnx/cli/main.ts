import { enableCompileCache } from 'node:module';
import { compileCache } from './compile-cache.ts';

enableCompileCache(compileCache);
await import('./command.ts');
