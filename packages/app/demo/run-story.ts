import { createClient } from '@tradepost/client';
import { buy, findSkus } from './buy.ts';
import { buyPromoted } from './promotions.ts';
import { returnGoods } from './return-goods.ts';
import { review } from './review.ts';
import { ship } from './ship.ts';
import { type Login, type Step, Story } from './story.ts';
import { track } from './track.ts';

/**
 * Runs a purchase over HTTP against a running server: a shopper finds a product, orders it and pays; an administrator ships
 * it; the shopper follows the parcel, reviews the goods, buys again with promotions, and returns one piece of the first order for a partial refund. Calls `onStep` after
 * each step. Throws StoryError at the first step that fails.
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
  const shipped = await ship(story, visitor, options.administrator, bought);
  await track(story, bought, shipped);
  await review(story, bought);
  await buyPromoted(story, { visitor, shopper: bought.shopper, address_id: bought.address_id }, options.administrator);
  await returnGoods(story, bought, shipped);
  return story.steps;
}
