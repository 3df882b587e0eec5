#include "CTags.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unistd.h>

#include <taglib/aifffile.h>
#include <taglib/apefile.h>
#include <taglib/apetag.h>
#include <taglib/asffile.h>
#include <taglib/asfpicture.h>
#include <taglib/attachedpictureframe.h>
#include <taglib/fileref.h>
#include <taglib/flacfile.h>
#include <taglib/id3v2tag.h>
#include <taglib/mp4file.h>
#include <taglib/mpcfile.h>
#include <taglib/mpegfile.h>
#include <taglib/oggflacfile.h>
#include <taglib/opusfile.h>
#include <taglib/popularimeterframe.h>
#include <taglib/speexfile.h>
#include <taglib/tdebuglistener.h>
#include <taglib/tfilestream.h>
#include <taglib/tpropertymap.h>
#include <taglib/trueaudiofile.h>
#include <taglib/vorbisfile.h>
#include <taglib/wavfile.h>
#include <taglib/wavpackfile.h>
#include <taglib/xiphcomment.h>

using namespace TagLib;

namespace {

/* More of a file than its tags and the first sound can take was read. */
struct TooLong {};

/* A file that is open, under the path that its format is guessed by.
 *
 * TagLib looks for the first and the last frame however far they are: in a file with a hole of terabytes, for days.
 * So it throws once so many bytes were read; an empty block would not end each of those loops. Some that TagLib has
 * made of the file by then is not freed: that happens once for each state of such a file. */
class NamedStream : public FileStream {
public:
    NamedStream(int descriptor, const char *path) : FileStream(descriptor, true), path(path) {
        if (!isOpen()) close(descriptor);
    }
    FileName name() const override { return path; }
    ByteVector readBlock(unsigned long length) override {
        auto block = FileStream::readBlock(length);
        // Where it looks for frames it reads little at a time, and takes long for each byte.
        unsigned long cost = block.size() < 4096 ? 4096 : block.size();
        if (cost > left) throw TooLong();
        left -= cost;
        return block;
    }

private:
    const char *path;
    unsigned long left = 64 << 20;
};

/* What TagLib finds odd in a file, it would print. */
class Silence : public DebugListener {
public:
    Silence() { setDebugListener(this); }
    void printMessage(const String &) override {}
};

Silence silence;

bool has_audio(File *file) {
    if (!file || !file->isValid()) return false;
    // Whatever has the ending is an MP3 to TagLib.
    if (auto mpeg = dynamic_cast<MPEG::File *>(file)) return mpeg->firstFrameOffset() >= 0;
    auto sound = file->audioProperties();
    return sound && sound->sampleRate() > 0;
}

ID3v2::Tag *id3(File *file) {
    if (auto mpeg = dynamic_cast<MPEG::File *>(file)) return mpeg->ID3v2Tag();
    if (auto flac = dynamic_cast<FLAC::File *>(file)) return flac->ID3v2Tag();
    if (auto wav = dynamic_cast<RIFF::WAV::File *>(file)) return wav->ID3v2Tag();
    if (auto aiff = dynamic_cast<RIFF::AIFF::File *>(file)) return aiff->tag();
    if (auto tta = dynamic_cast<TrueAudio::File *>(file)) return tta->ID3v2Tag();
    return nullptr;
}

Ogg::XiphComment *xiph(File *file) {
    if (auto flac = dynamic_cast<FLAC::File *>(file)) return flac->xiphComment();
    return dynamic_cast<Ogg::XiphComment *>(file->tag());
}

APE::Tag *ape(File *file) {
    if (auto mpeg = dynamic_cast<MPEG::File *>(file)) return mpeg->APETag();
    if (auto pack = dynamic_cast<WavPack::File *>(file)) return pack->APETag();
    if (auto mpc = dynamic_cast<MPC::File *>(file)) return mpc->APETag();
    if (auto monkey = dynamic_cast<APE::File *>(file)) return monkey->APETag();
    return nullptr;
}

/* ---- Ratings: from 0 to 5 stars, -1 where there is none ---- */

double within(double stars) { return stars < 0 || stars > 5 ? -1 : stars; }

/* What Windows writes for 1 to 5 stars is 1, 64, 128, 196 and 255; others lie between. */
double stars_of_popularity(int value) {
    if (value <= 0) return -1;
    if (value < 32) return 1;
    if (value < 96) return 2;
    if (value < 160) return 3;
    return value < 224 ? 4 : 5;
}

double stars_of_text(const String &text, double most) {
    std::string plain = text.to8Bit(true);
    char *end = nullptr;
    double value = strtod(plain.c_str(), &end);
    if (end == plain.c_str() || *end != 0 || value != value) return -1;
    // Some write stars as they are.
    return within(value <= 5 && most > 5 ? value : value * 5 / most);
}

double rating(File *file, const PropertyMap &properties) {
    if (auto tag = id3(file)) {
        for (auto frame : tag->frameList("POPM")) {
            auto popularity = dynamic_cast<ID3v2::PopularimeterFrame *>(frame);
            double stars = popularity ? stars_of_popularity(popularity->rating()) : -1;
            if (stars >= 0) return stars;
        }
    }
    if (auto mp4 = dynamic_cast<MP4::File *>(file)) {
        auto tag = mp4->tag();
        if (tag && tag->contains("rate")) {
            auto texts = tag->item("rate").toStringList();
            if (!texts.isEmpty()) return stars_of_text(texts.front(), 100);
        }
    }
    if (auto asf = dynamic_cast<ASF::File *>(file)) {
        auto values = asf->tag() ? asf->tag()->attribute("WM/SharedUserRating")
                                 : ASF::AttributeList();
        if (!values.isEmpty() && values.front().toUInt() > 0)
            // What Windows writes for 1 to 5 stars is 1, 25, 50, 75 and 99.
            return within(values.front().toUInt() >= 99 ? 5 : values.front().toUInt() / 25 + 1);
    }
    const struct {
        const char *name;
        double most;
    } names[] = {{"FMPS_RATING", 1}, {"RATING", 100}};
    for (auto known : names) {
        auto found = properties.find(known.name);
        if (found != properties.end() && !found->second.isEmpty())
            return stars_of_text(found->second.front(), known.most);
    }
    return -1;
}

/* ---- Covers ---- */

struct Picture {
    std::string type;
    ByteVector bytes;
    bool is_front = false;

    bool is_there() const { return !bytes.isEmpty(); }

    void take(const String &type, const ByteVector &bytes, bool is_front) {
        if (bytes.isEmpty() || this->is_front || (is_there() && !is_front)) return;
        this->type = type.to8Bit(true);
        this->bytes = bytes;
        this->is_front = is_front;
    }

    void take(const List<FLAC::Picture *> &pictures) {
        for (auto picture : pictures)
            take(picture->mimeType(), picture->data(),
                 picture->type() == FLAC::Picture::FrontCover);
    }
};

void take_mp4(MP4::Tag *tag, Picture &cover) {
    if (!tag || !tag->contains("covr")) return;
    for (const auto &art : tag->item("covr").toCoverArtList()) cover.take("", art.data(), true);
}

void take_ape(APE::Tag *tag, Picture &cover) {
    if (!tag) return;
    const auto &items = tag->itemListMap();
    auto found = items.find("COVER ART (FRONT)");
    if (found == items.end()) return;
    // A name, a zero and the picture.
    auto data = found->second.binaryData();
    int zero = data.find('\0');
    if (zero >= 0) cover.take("", data.mid(zero + 1), true);
}

Picture cover_of(File *file) {
    Picture cover;
    if (auto flac = dynamic_cast<FLAC::File *>(file)) cover.take(flac->pictureList());
    if (auto comment = xiph(file)) cover.take(comment->pictureList());
    if (auto tag = id3(file)) {
        for (auto frame : tag->frameList("APIC")) {
            auto picture = dynamic_cast<ID3v2::AttachedPictureFrame *>(frame);
            if (picture)
                cover.take(picture->mimeType(), picture->picture(),
                           picture->type() == ID3v2::AttachedPictureFrame::FrontCover);
        }
    }
    if (auto mp4 = dynamic_cast<MP4::File *>(file)) take_mp4(mp4->tag(), cover);
    if (auto asf = dynamic_cast<ASF::File *>(file); asf && asf->tag()) {
        for (const auto &value : asf->tag()->attribute("WM/Picture")) {
            auto picture = value.toPicture();
            if (picture.isValid())
                cover.take(picture.mimeType(), picture.picture(),
                           picture.type() == ASF::Picture::FrontCover);
        }
    }
    take_ape(ape(file), cover);
    return cover;
}

const char *const wanted[] = {
    "TITLE", "ARTIST", "ALBUM", "ALBUMARTIST", "COMPOSER", "GENRE", "COMMENT", "DATE",
    "TRACKNUMBER", "DISCNUMBER",
};

// What comes of reading: nothing that TagLib throws reaches the caller, who is not C++.
template <typename Body>
tags_outcome caught(Body body) {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return TAGS_TOO_LARGE;
    } catch (const TooLong &) {
        return TAGS_TOO_LONG;
    } catch (...) {
        return TAGS_NO_AUDIO;
    }
}

}  // namespace

enum tags_outcome tags_read(int descriptor, const char *path, struct tags_numbers *numbers,
                            tags_take_text take, void *context) {
    return caught([&] {
        NamedStream stream(descriptor, path);
        FileRef reference(&stream);
        auto file = reference.file();
        if (!has_audio(file)) return TAGS_NO_AUDIO;
        auto sound = file->audioProperties();
        auto properties = file->properties();
        numbers->milliseconds = sound ? sound->lengthInMilliseconds() : 0;
        numbers->bitrate = sound ? sound->bitrate() : 0;
        numbers->rating = rating(file, properties);
        numbers->has_cover = cover_of(file).is_there();
        for (auto name : wanted) {
            auto found = properties.find(name);
            if (found == properties.end()) continue;
            for (const auto &value : found->second) {
                std::string text = value.to8Bit(true);
                take(context, name, text.data(), text.size());
            }
        }
        return TAGS_READ;
    });
}

enum tags_outcome tags_read_cover(int descriptor, const char *path, tags_take_picture take,
                                  void *context) {
    return caught([&] {
        NamedStream stream(descriptor, path);
        FileRef reference(&stream, false);
        auto file = reference.file();
        if (!file || !file->isValid()) return TAGS_NO_AUDIO;
        Picture cover = cover_of(file);
        if (cover.is_there())
            take(context, cover.type.c_str(), cover.bytes.data(), cover.bytes.size());
        return TAGS_READ;
    });
}
