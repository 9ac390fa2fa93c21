import 'reflect-metadata';
import { AIError, modelFromEnv } from 'inversify-ai';
import { play, scenes } from './scenes.js';

try {
  await play(modelFromEnv(), scenes, console.log);
} catch (error) {
  if (!(error instanceof AIError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
