/** Words that the sentences of `sentences.ts` are made of; with their forms some two thousand. */

const words = (text: string): readonly string[] => text.split(/\s+/).filter(Boolean);

export const NOUNS = words(`
  account adapter address agenda agent airport alarm album allergy analysis anchor antenna apartment
  appointment archive article assembly atlas attic auction audit balcony bakery balance bank banner
  barrel basement basket battery beach bearing bench bicycle bill blanket blueprint board boat boiler
  bolt bookshelf border bottle boundary bracket branch bread breakfast bridge broadcast brush bucket
  budget buffer building bundle burner bus button cabin cabinet cable calendar camera campaign canal
  candle canvas carpet carriage catalogue cathedral ceiling cellar ceremony certificate chain chair
  channel chapter charger chart checklist cheese chest chimney choir circuit clause climate clinic
  clock cloth cluster coach coast collar colour column comet commit committee compass compiler
  component concert condition conference connector container contract copper corner corridor cotton
  council counter coupon courtyard cousin cover crane crate credit crew cupboard curtain cushion
  cycle dashboard database daughter deadline deck default delivery dentist deployment deposit desert
  device diagram dictionary diet dinner directory discount dishwasher document donation drawer
  drawing driver drought earring edition editor election elevator embassy emergency engine entrance
  envelope episode error estimate evening event examination exhibit expense experiment export fabric
  factory failure farm faucet feather fence ferry festival fever field figure filter firewall
  fireplace flight floor flour flower folder footnote forecast forest fork formula fountain fragment
  frame freezer freight frontier funnel furnace furniture galaxy gallery garage garden gasket gateway
  generator glacier glossary glove grant graph gravel greenhouse guest guideline guitar gutter hallway
  hammer handle harbour hardware harvest header headline heater hedge helmet highway hinge holiday
  horizon hospital hostel hotel household hypothesis iceberg icon index inlet insect inspection
  insurance interface interview inventory invoice island jacket journal journey junction kettle
  keyboard kitchen kiosk label laboratory ladder lake lamp landlord language lantern laptop latch
  laundry lawn layer leaflet lease lecture ledger lemon lens letter lever library licence lighthouse
  limit linen lock locker logistics lumber luggage machine magazine magnet mailbox manual map margin
  market material meadow measure medicine meeting membrane memo menu metric microscope migration
  mirror module monitor monument mortgage motor mountain museum mushroom needle neighbour network
  newsletter nickel notebook notice novel nozzle nursery oak office onion orchard orchestra order
  outlet oven package paint palace panel paper parcel parking parliament partition passport pasture
  patch path patient pattern pavement payment peanut pencil pension permit pharmacy photograph piano
  picture pier pillow pilot pipe pipeline piston pixel planet plaster platform plot plug pocket poem
  policy pool porch port portrait postcard pot pottery prescription printer prototype proposal
  protocol pump puzzle quarry query queue quilt quota radiator railway rainfall ranch receipt recipe
  record recorder reef referendum refund register release remedy rental repair report reservation
  reservoir restaurant retailer review ribbon ridge river roadmap rocket roof roster route router
  rubber rudder runtime saddle salad sample sandal satellite sauce scaffold schedule schema school
  scooter screen screw script sculpture season seatbelt sensor server session shelf shelter shipment
  shoulder shower shutter signal sketch skylight slipper socket software soil spice spoon spreadsheet
  stadium staircase stamp station statue stove strategy stream studio subscription suitcase summary
  supplier surface survey suspension switch table tank tariff tavern telescope template tenant terminal
  terrace theatre theorem thermostat thread ticket tile timber timeline toaster token tool towel tower
  track tractor trailer transcript transfer transmitter tray treaty trolley tunnel turbine tutorial
  umbrella uniform update upgrade vaccine valley valve vault vehicle velvet vendor veranda version
  village vinegar violin volcano voltage voucher wagon wallet wardrobe warehouse warranty watch
  waterfall website wedding wheel widget window winter wire workshop wrench yard zipper
`);

/** Verbs with a regular past: add "d" after an e, else "ed". */
export const VERBS = words(`
  accept adjust adopt allocate alter amend announce approve arrange assemble assess assign attach avoid
  balance block borrow calculate cancel change check claim clean collect compare complete configure
  confirm connect consider convert correct cover create decline decorate defer delay delete deliver
  describe design detach detect develop disable discover discuss divide document download drain
  duplicate earn edit enable encode endorse enlarge estimate examine exchange expand expect explain
  export extend fasten file fill filter finish fix fold forward gather handle harvest heat highlight
  hire honour identify ignore implement import improve include increase index inspect install insulate
  insure introduce invite isolate join label launch limit list load locate lock measure mention merge
  migrate monitor mount move notice number open order organise pack paint patch perform place plant
  polish postpone prepare present preserve print process procure produce publish purchase question
  reach receive recommend record recover reduce refill refuse register reject release remove rename
  renovate repair replace report request require reserve resolve restore return review revise rework
  rotate sample schedule select separate ship sign simplify sketch sort stack start store stretch
  suggest support suspend sweep test trace track train translate trust unfold unload update upload
  validate verify visit wash weigh wrap
`);

export const ADJECTIVES = words(`
  abandoned accurate acoustic additional alpine ancient annual anonymous automatic available average
  bilingual bright brittle broken calm careful ceramic cheap circular clean coastal cold colourful
  common compact complete concrete confidential copious corrupt crowded cubic daily damp dark deep
  delayed dense detailed digital distant domestic double dry durable dusty early eastern elastic
  electric elegant empty enormous essential exact expensive experimental external faded famous fast
  final flat flexible floating foldable foreign formal fragile fresh frozen gentle genuine gradual
  green guarded handmade harmless heavy hidden hollow horizontal hourly humid identical idle important
  incomplete indoor industrial informal inner internal invisible large late leaky legal light liquid
  local long loose loud magnetic manual medical metallic mild minor missing mobile modern monthly
  muddy municipal musical narrow native neat new noisy northern nutritious obsolete official old open
  optional orange ordinary organic original outdated outdoor outer overdue painted parallel partial
  patient periodic permanent plain portable precise preliminary private probable public purple quiet
  random rapid rare readable recent rectangular redundant regional reliable remote renewed rough round
  rural rusty safe salty seasonal secondary secure separate shallow sharp silent silver simple slow
  small smooth soft solid sour southern spare special stable steep sticky strict striped strong
  sturdy subtle sudden sunny surplus sweet synthetic tall temporary thick thin tidy tiny tough
  transparent tropical ultimate uneven unfinished unique unpaid unusual urban urgent useful vacant
  valid vertical visible warm waterproof weekly western wet white wide wireless wooden yearly yellow
`);

/** Where, when and how something is. */
export const CIRCUMSTANCES = words(`
  after_lunch at_dawn at_midnight at_noon at_the_weekend because_of_the_noise because_of_the_rain
  before_sunrise before_the_holidays by_accident by_hand by_mail by_train during_the_night
  every_second_day for_the_third_time from_now_on in_april in_august in_december in_february in_january
  in_july in_june in_march in_may in_november in_october in_september in_spring in_the_afternoon
  in_the_basement in_the_city in_the_mountains in_the_morning next_month next_week next_year on_friday
  on_holiday on_monday on_purpose on_saturday on_sunday on_the_second_floor on_thursday on_tuesday
  on_wednesday once_a_month once_a_week over_the_telephone since_last_year twice_a_day under_pressure
  until_further_notice with_great_care with_the_old_keys within_two_days without_a_receipt
`).map((phrase) => phrase.replaceAll("_", " "));

/** Parts of invented names of projects, products and places. */
export const NAME_STARTS = words(`
  al ar bel bran cal cor dal dor el fal fen gar gol hal hel il jor kal kel lan lor mar mel mor nal nor
  or pel quin ral rin sal sel tal tor ul val ven wil yar zel
`);
export const NAME_MIDDLES = words("a e i o u ae ia en in on ar er or and est ist ov em um ul");
export const NAME_ENDS = words(
  "dale dor fax field gate lis mark mere mont nis port ra rix tis va wick",
);
