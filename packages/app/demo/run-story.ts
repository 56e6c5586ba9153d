import { createClient } from '@tradepost/client';
import { buy, findSkus } from './buy.ts';
import { ship } from './ship.ts';
import { type Login, type Step, Story } from './story.ts';

/**
 * Runs a purchase over HTTP against a running server: a shopper finds a product, orders it and pays, and an administrator
 * ships it. Calls `onStep` after each step. Throws StoryError at the first step that fails.
 */
export async function runStory(options: {
  url: string;
  shopper: Login;
  administrator: Login;
  keyword: string;
  onStep: (step: Step) => void;
}): Promise<Step[]> {
  const story = new Story(options.onStep);
  const visitor = createClient({ url: options.url, lang: 'en' });
  const skus = await findSkus(story, visitor, options.keyword);
  const bought = await buy(story, visitor, options.shopper, skus);
  await ship(story, visitor, options.administrator, bought);
  return story.steps;
}
