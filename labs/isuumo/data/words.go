package data

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// The name of a chair is one of each of these, at most 25 characters together.
var (
	chairPrefixes = []string{
		"新作 ", "定番 ", "限定 ", "工房直送 ", "書斎の", "窓辺の", "週末の", "大人の", "昭和の", "北国の", "街角の", "家族の",
	}
	chairAdjectives = []string{
		"軽やかな", "どっしりした", "包み込む", "背筋が伸びる", "やわらかな", "すっきりした",
		"頑丈な", "静かな", "肌ざわりのよい", "飽きのこない", "腰にやさしい", "かさばらない",
	}
	chairNouns = []string{
		"チェア", "椅子", "腰かけ", "シート", "一脚", "くつろぎ椅子", "リラックスチェア", "パーソナルチェア", "ラウンジチェア", "デイリーチェア", "名作チェア",
	}
)

// The description of a chair is one of each of these, at most 80 characters together.
var (
	chairAims = []string{
		"長く座っても疲れにくいように、",
		"木の温もりを大切にしながら、",
		"部屋の景色になじむように、",
		"毎日の仕事に寄り添えるように、",
		"家族みんなで使えるように、",
		"読書の時間を楽しめるように、",
		"小さな部屋にも置けるように、",
		"お客さまの声に耳を傾けながら、",
		"座る人の姿勢を第一に考え、",
		"手入れのしやすさも考えながら、",
	}
	chairMeans = []string{
		"背もたれの角度を一から設計しました。",
		"座面の厚みを何度も調整しました。",
		"熟練の職人が一脚ずつ組み上げています。",
		"体の重さを広く受け止める形にしました。",
		"脚の太さと高さを細かく選び抜きました。",
		"軽さと丈夫さの両方にこだわりました。",
		"座面の素材を一つひとつ選び直しました。",
		"手の触れる角をすべて丸く仕上げました。",
		"余計な飾りのない形にまとめました。",
		"きしみの出にくい構造を採用しました。",
	}
	chairPromises = []string{
		"朝から晩まで、安心して体を預けられます。",
		"窓辺に置けば、午後のお茶がもっとおいしくなります。",
		"使うほどに手になじみ、愛着がわいてきます。",
		"届いたその日から、すぐにお使いいただけます。",
		"来客の多いお宅にも、自信を持っておすすめします。",
		"一人暮らしで最初に選ぶ椅子としてもぴったりです。",
		"大切な方への贈りものとしても喜ばれています。",
		"机の高さを選ばず、いろいろな部屋で活躍します。",
		"腰を下ろした瞬間に、違いがわかる仕上がりです。",
		"修理にも対応しますので、末永くお使いください。",
	}
)

// The name of an estate is one of these with a last name in it.
var (
	estateNames = []string{"%sハイツ", "コーポ%s", "メゾン%s", "グランデ%s", "%s第二ビル", "%s荘"}
	lastNames   = []string{
		"佐藤", "鈴木", "高橋", "田中", "伊藤", "渡辺", "山本", "中村", "小林", "加藤", "吉田", "山田",
		"佐々木", "山口", "松本", "井上", "木村", "林", "斎藤", "清水", "山崎", "森", "池田", "橋本",
		"阿部", "石川", "山下", "中島", "石井", "小川", "前田", "岡田", "長谷川", "藤田", "後藤", "近藤",
		"村上", "遠藤", "青木", "坂本", "福田", "太田", "西村", "藤井", "金子", "岡本", "藤原", "三浦",
	}
)

// The description of an estate is one of each of these, at most 80 characters together.
var (
	estatePlaces = []string{
		"駅から歩いて五分の便利な場所にあり、",
		"商店街の裏の静かな通りにあり、",
		"川沿いの遊歩道に面していて、",
		"公園の緑を見下ろす高台にあり、",
		"学校や病院が近くにそろっていて、",
		"夜遅くまで開いている店が近くにあり、",
		"昔ながらの町並みが残る一角にあり、",
		"海からの風が届く坂の上にあり、",
		"大通りから一本入ったところにあり、",
		"図書館と美術館の間に建っていて、",
	}
	estateRooms = []string{
		"朝の光が部屋いっぱいに入ります。",
		"風通しのよい間取りが自慢です。",
		"広めの台所で料理がはかどります。",
		"収納が多く、荷物の多い方も安心です。",
		"天井が高く、広さ以上にゆとりを感じます。",
		"床と壁は張り替えたばかりです。",
		"隣の物音が気になりにくい造りです。",
		"洗濯物のよく乾く広いベランダがあります。",
		"大きな家具も運び込みやすい玄関です。",
		"仕事部屋を一つ取れる広さがあります。",
	}
	estatePromises = []string{
		"初めての一人暮らしの方にもおすすめします。",
		"ご家族でゆったりとお過ごしいただけます。",
		"管理人が毎朝、玄関先を掃き清めています。",
		"内見は休日の夕方まで、いつでも承ります。",
		"契約の更新料はいただいておりません。",
		"お気に入りの椅子を窓辺に置いてみませんか。",
		"ご近所どうしの付き合いも温かい建物です。",
		"引っ越しの日取りもお気軽にご相談ください。",
		"長くお住まいの方が多い、落ち着いた建物です。",
		"空きの出ることが少ない、人気の部屋です。",
	}
	quarters = []string{
		"本町", "栄町", "緑町", "桜台", "若葉", "中央", "東町", "西町", "南町", "北町", "旭町", "宮前",
		"川端", "末広", "寿町", "大手町", "新町", "花園", "美里", "松原", "泉町", "港町", "春日", "月見台",
	}
)

// A town is a place that estates are about.
type town struct {
	name string // prefecture and city
	isuumo.Point
}

// towns has those first that are large: no polygon is drawn about the first three.
var towns = []town{
	{"東京都千代田区", isuumo.Point{Latitude: 35.694003, Longitude: 139.753634}},
	{"神奈川県横浜市", isuumo.Point{Latitude: 35.443674, Longitude: 139.637964}},
	{"大阪府大阪市", isuumo.Point{Latitude: 34.693738, Longitude: 135.502165}},
	{"北海道名寄市", isuumo.Point{Latitude: 44.355939, Longitude: 142.463200}},
	{"北海道網走市", isuumo.Point{Latitude: 44.020633, Longitude: 144.273355}},
	{"北海道札幌市", isuumo.Point{Latitude: 43.061771, Longitude: 141.354506}},
	{"北海道函館市", isuumo.Point{Latitude: 41.768793, Longitude: 140.728810}},
	{"青森県弘前市", isuumo.Point{Latitude: 40.603073, Longitude: 140.463970}},
	{"岩手県盛岡市", isuumo.Point{Latitude: 39.702053, Longitude: 141.154473}},
	{"宮城県仙台市", isuumo.Point{Latitude: 38.268215, Longitude: 140.869356}},
	{"福島県会津若松市", isuumo.Point{Latitude: 37.494763, Longitude: 139.929827}},
	{"新潟県長岡市", isuumo.Point{Latitude: 37.446240, Longitude: 138.851260}},
	{"群馬県高崎市", isuumo.Point{Latitude: 36.321949, Longitude: 139.003254}},
	{"茨城県つくば市", isuumo.Point{Latitude: 36.083504, Longitude: 140.076442}},
	{"埼玉県川越市", isuumo.Point{Latitude: 35.925142, Longitude: 139.485782}},
	{"長野県松本市", isuumo.Point{Latitude: 36.238044, Longitude: 137.971978}},
	{"石川県金沢市", isuumo.Point{Latitude: 36.561325, Longitude: 136.656205}},
	{"静岡県浜松市", isuumo.Point{Latitude: 34.710834, Longitude: 137.726126}},
	{"愛知県名古屋市", isuumo.Point{Latitude: 35.181446, Longitude: 136.906398}},
	{"三重県伊勢市", isuumo.Point{Latitude: 34.487478, Longitude: 136.709413}},
	{"兵庫県姫路市", isuumo.Point{Latitude: 34.815147, Longitude: 134.685528}},
	{"岡山県倉敷市", isuumo.Point{Latitude: 34.585026, Longitude: 133.772087}},
	{"島根県松江市", isuumo.Point{Latitude: 35.468059, Longitude: 133.048376}},
	{"愛媛県松山市", isuumo.Point{Latitude: 33.839157, Longitude: 132.765575}},
	{"福岡県久留米市", isuumo.Point{Latitude: 33.319286, Longitude: 130.508374}},
	{"佐賀県唐津市", isuumo.Point{Latitude: 33.450025, Longitude: 129.968407}},
}

// Towns returns the places that estates are about. Polygons are drawn about those
// from the fourth on.
func Towns() []isuumo.Point {
	out := make([]isuumo.Point, len(towns))
	for i, t := range towns {
		out[i] = t.Point
	}
	return out
}

// combineAll returns all texts that have one of each of the parts, in order.
func combineAll(first, second, third []string) []string {
	out := make([]string, 0, len(first)*len(second)*len(third))
	for _, a := range first {
		for _, b := range second {
			for _, c := range third {
				out = append(out, a+b+c)
			}
		}
	}
	return out
}

// fillTemplates returns all templates with each of the names in the place of %s.
func fillTemplates(templates, names []string) []string {
	out := make([]string, 0, len(templates)*len(names))
	for _, t := range templates {
		for _, n := range names {
			out = append(out, strings.Replace(t, "%s", n, 1))
		}
	}
	return out
}

// thumbnailCount is how many pictures of each kind there are by name.
const thumbnailCount = 1000

// thumbnailPaths returns the paths of the pictures of one kind. They are the same for
// all seeds.
func thumbnailPaths(kind string) []string {
	out := make([]string, thumbnailCount)
	for i := range out {
		out[i] = fmt.Sprintf("/images/%s/%x.png", kind, sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, i)))
	}
	return out
}
